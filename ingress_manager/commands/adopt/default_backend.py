"""The default backend of an Ingress, said by rules, and where controllers would differ in what these answer."""

from collections.abc import Container, Iterator

import msgspec

from ingress_manager.commands.adopt.around import Around
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.ingresses import places_of
from ingress_manager.core.kubernetes import IngressPath, IngressPaths, IngressRule, IngressSpec
from ingress_manager.core.text import listed

DEFAULT_BACKEND = "spec.defaultBackend"


def with_rules(spec: IngressSpec, rooted: Container[str]) -> IngressSpec:
    """Return a spec whose default backend, a Service, is said by rules: what answers every host, and what no path has.

    Some controllers look for the default backend within the Ingress that has the host. So each host gets the path /,
    but for those that are `rooted` elsewhere.
    """
    if spec.default_backend is None or not spec.default_backend.service:
        return spec
    root, added = IngressPath("Prefix", spec.default_backend, "/"), without_root(spec, rooted)
    rules = []
    for rule in spec.rules or ():
        paths = rule.http.paths if rule.http else []
        rules.append(IngressRule(rule.host, IngressPaths([*paths, root])) if rule.host in added else rule)
        added.discard(rule.host)
    rules += [IngressRule(host, IngressPaths([root])) for host in added]
    return msgspec.structs.replace(spec, default_backend=None, rules=rules)


def roots(spec: IngressSpec, rooted: Container[str]) -> str:
    """Return what a person calls the paths that say the default backend."""
    added = sorted(without_root(spec, rooted))
    return (
        f"the path / of {listed([host or 'every host' for host in added])}"
        if added
        else "nothing: its rules answer every host"
    )


def why_not_rooted(item: Item, spec: IngressSpec, home: str, around: Around, accepting: str) -> Iterator[str]:
    """Yield why the default backend can't be said by rules, where something else may answer what they would.

    A default backend alone, in the Ingress of its Service, which is `home`, is the same to all controllers.
    `accepting` says what is done with it where its change is accepted.
    """
    backend = spec.default_backend.service if spec.default_backend else None
    rooted = around.rooted(item, spec)
    added = sorted(without_root(spec, rooted))
    if backend is None:
        return
    elsewhere = {(host, path.path) for host, path in spec.paths() if path.backend.service != backend}
    places = list(around.beside(item, spec))
    beside = {(host, path) for host, path, _ in places}
    surely = set(around.beside(item, spec, of_its_class=True))
    others = {host for host, *_ in places if host and (host, "/", False) not in surely}
    # Under a host of another Ingress without /, the default backend may answer, and a rule for every host may not.
    unsure = sorted(others | ({rule.host for rule in spec.rules or ()} if "" in added else set()))
    if (unsure or (added and backend.name != home)) and DEFAULT_BACKEND not in around.accepted:
        differ = (
            f"beside the rules of {listed([host or '*' for host in unsure])}, controllers differ in what it answers"
        )
        yield (
            f"{DEFAULT_BACKEND}: would become {roots(spec, rooted)}; "
            f"{differ if unsure else 'a new Ingress would answer that at once'}; "
            f"--accept-changes {DEFAULT_BACKEND} {accepting} it"
        )
    for host in added:
        wider = {"", f"*.{host.partition('.')[2]}"} - {host}
        for other, path in sorted(each for each in elsewhere | beside if host and each[0] in wider):
            yield (
                f"{DEFAULT_BACKEND}: some controllers answer the other paths of {host} by it, and some by "
                f"{other or '*'}{path}; give {host} a path / first"
            )
        if not host and ("", "/") in beside:
            yield (
                f"{DEFAULT_BACKEND}: another Ingress answers every host, too, and a rule that says it could take "
                "requests from that: take it out of one of the two first"
            )


def without_root(spec: IngressSpec, rooted: Container[str]) -> set[str]:
    """Return the hosts of which the default backend, if there is one, answers /; "" for every other host."""
    if spec.default_backend is None or not spec.default_backend.service:
        return set()
    places = set(places_of(msgspec.structs.replace(spec, default_backend=None)))
    hosts = {"", *(rule.host for rule in spec.rules or ())}
    return {host for host in hosts if not (host and host in rooted) and (host, "/", False) not in places}
