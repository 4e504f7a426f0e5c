"""The findings of `audit`, which `status` shows, too: problems of a cluster, each with its remedy."""
