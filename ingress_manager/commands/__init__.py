"""The commands: `ingress-manager render` and the others, for people and for CI. They decide as the hook does.

main.py lists them. Each has a folder of its name: command.py there reads files or runs kubectl, asks the modules beside
it, and prints. Those are pure: objects in, objects and messages out. Nothing here holds credentials: kubectl has the
user's. What several commands share, each of which knows only those above it:

    printing     messages, objects as YAML or JSON, words of a shell, standard error
    reading      text of YAML or JSON → items: objects that know their file and line; kubectl; options; settings
    view         what of these belongs together, what makes an object ingress-manager's, what has drifted
    plans        kubectl commands, one after the other, shown or carried out by `--apply`
    annotating   the annotations that ask for what an Ingress says

It is pure, too, but for printing/console.py, reading/files.py, kubectl.py, settings.py and what asks them (options.py,
names.py), view/cluster.py and plans/carrying_out.py; also play/loopback.py, which serves the page, and
compare/answers.py, which asks for them.

No command knows another, but for two: `status` tells what `audit` finds of one Service, and `play` shows on its page
what `render` makes.
"""
