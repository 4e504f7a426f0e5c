"""The commands of `ingress-manager`, for people and for CI. They make their decisions with the hook's own code.

main.py lists the commands. Each one is a module, or a folder in which command.py reads the input, calls the pure
modules beside it, and prints the result. The commands run kubectl with the user's credentials and have none of their
own. They share these modules and folders (import-linter checks which of them may import which):

    printing     prints messages, and objects as YAML or JSON
    reading      runs kubectl, and reads options, settings and objects, each object with its file and line
    snapshot     finds out which objects belong together, which ingress-manager manages, and which have drifted
    plans        prints sequences of kubectl commands or, with `--apply`, runs them
    findings     finds problems in a snapshot, each with its remedy
    inspection   reads a cluster or files, decides on each Service, and finds problems, for `audit` and `status`
"""
