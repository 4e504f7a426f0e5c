"""The commands: `ingress-manager render` and the others, for people and for CI. They decide as the hook does.

Each command is two modules of one name. The one here is pure: objects in, objects and findings out. The one in `shell`
reads files or runs kubectl, calls the first, and prints. Nothing here holds credentials: kubectl has the user's.

    manifests    text of YAML or JSON → items: objects that know their file and line
    findings     one sentence about an item, as `file:line: namespace/name: sentence`
    services     item → the typed Service that `hooks.decide` takes
    inventory    items → which of a cluster's Ingresses and HTTPRoutes belong to which Service
    merge        what Metacontroller makes of an object that stands
    printing     objects → YAML, JSON or names
"""
