"""Plans: kubectl commands that are run one after the other, printed as a script or run by `--apply`."""
