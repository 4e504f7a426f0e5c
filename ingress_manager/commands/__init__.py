"""The commands: `ingress-manager render` and the others, for people and for CI. They decide as the hook does.

main.py lists them. Each command is a module with its name, or a folder: there, command.py reads the input, calls the
pure modules beside it, and prints. The commands hold no credentials: they run kubectl, which has the user's. Several
commands share these modules and folders (import-linter checks which may import which):

    printing     messages, objects as YAML or JSON, words of a shell, standard error
    reading      text of YAML or JSON → items: objects that know their file and line; kubectl; options; settings
    snapshot     which items belong together, which objects ingress-manager manages, and which have drifted
    plans        kubectl commands, one after the other, that are shown or, with `--apply`, carried out
    findings     problems of a snapshot, each with its remedy
    inspection   reads a cluster or files, decides on each Service, and finds problems, for `audit` and `status`
"""
