"""The commands: `ingress-manager render` and the others, for people and for CI. They decide as the hook does.

main.py lists them. Each is a module of its name, or a folder, in which command.py reads files or runs kubectl, asks the
modules beside it, and prints. Nothing here holds credentials: kubectl has the user's. What several commands share, each
of which knows only those above it:

    printing     messages, objects as YAML or JSON, words of a shell, standard error
    reading      text of YAML or JSON → items: objects that know their file and line; kubectl; options; settings
    snapshot         what of these belongs together, what makes an object ingress-manager's, what has drifted
    plans        kubectl commands, one after the other, shown or carried out by `--apply`
    findings     problems of a snapshot, each with its remedy
    inspection   a cluster or files read, decided on, and searched for findings, for `audit` and `status`

`uninstall` uses another command's module: it takes off Services what `release` does.
"""
