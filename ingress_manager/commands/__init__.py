"""The commands: `ingress-manager render` and the others, for people and for CI. They decide as the hook does.

main.py lists them. Each is a module of its name, or a folder whose command.py reads, asks the pure modules beside it,
and prints. No credentials are held here: kubectl has the user's. Shared by several commands, each importing only those
below it (import-linter holds that):

    printing     messages, objects as YAML or JSON, words of a shell, standard error
    reading      text of YAML or JSON → items: objects that know their file and line; kubectl; options; settings
    snapshot     what of these belongs together, what makes an object ingress-manager's, what has drifted
    plans        kubectl commands, one after the other, shown or carried out by `--apply`
    findings     problems of a snapshot, each with its remedy
    inspection   a cluster or files read, decided on, and searched for findings, for `audit` and `status`
"""
