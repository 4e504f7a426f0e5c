"""Plans: what the commands `adopt`, `release` and `uninstall` do to a cluster, and in which order."""
