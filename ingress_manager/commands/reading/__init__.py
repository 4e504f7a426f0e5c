"""Reading objects, with the file and line of each field, and settings: from files, or from the cluster by kubectl."""
