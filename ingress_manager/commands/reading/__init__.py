"""Reading: objects, with the file and line of each field, and settings, from files or from the cluster by kubectl.

Data moves one way, each module knows only those above it:

    rights       the rights that each command needs on a cluster
    documents    text → values and the lines of their fields, or why they can't be read
    manifests    documents → items: objects that know their file and line
    kubectl      the objects of a cluster
    settings     the administrator's settings, in a file or in the ConfigMap that the hook reads
    options      the options of a command → a Source of objects and settings
    cluster      a Source → the parts of a snapshot, as far as the user may read them
"""
