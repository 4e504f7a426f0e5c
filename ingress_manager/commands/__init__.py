"""The commands: `ingress-manager render` and the others, for people and for CI. They decide as the hook does.

main.py lists them. Each is a module of its name, or a folder whose command.py reads, asks the pure modules beside it,
and prints. No credentials are held here: kubectl has the user's. Shared by several commands, each importing only those
below it (import-linter holds that):

    plans        kubectl commands in order, shown or carried out by `--apply`
    printing     objects as YAML or JSON, messages on standard error
    reading      objects and settings, from files or from the cluster by kubectl
    terminal     lines that fit the terminal, notes and progress
    snapshot     what was read, decided once: items, which objects belong together, drift; no I/O
    text         commands as a shell reads them

`status` reports what `audit` finds for one Service, and `uninstall` takes the annotations off Services as `release`
does.
"""
