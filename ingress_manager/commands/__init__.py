"""The commands: `ingress-manager render` and the others, for people and for CI. They decide as the hook does.

Each command is two modules of one name. The one here is pure: objects in, objects and findings out. The one in `shell`
reads files or runs kubectl, calls the first, and prints. Nothing here holds credentials: kubectl has the user's.

What several commands share:

    manifests    text of YAML or JSON → items: objects that know their file and line (lines)
    findings     one sentence about an item, as `file:line: namespace/name: sentence`
    services     item → the typed Service that `ingress_manager.core.decide` takes
    ingresses    item → the typed spec of an Ingress
    managed      what makes an object ingress-manager's, and how it is given away
    steps        kubectl commands, one after the other, and how they are written for a shell
    merge        what Metacontroller makes of an object that stands
    printing     objects → YAML, JSON or names

`audit`: inventory, which objects belong to which Service; drift, claims and remedies; kinds, the table of findings;
preview, the look at other settings; reports, how all is printed; administrators, where a cluster keeps its settings.
`adopt`: asking, which annotations ask for an Ingress (wishes), and what would be different (changes); splitting;
deployers. `migrate`: exposed, exposecontroller and xposer. `explain`: examples. The folder page is `play`'s.
"""
