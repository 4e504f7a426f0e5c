"""The worst inputs stay within the API server's limits: what it refuses never reaches the hook."""

import json

import pytest

from devcluster.worst import ANNOTATION_BYTES, worst_requests
from hooks.wsgi import LARGEST_BODY

LARGEST_OBJECT = 3 * 1024 * 1024


@pytest.mark.thorough
def test_each_of_the_worst_requests_holds_objects_that_the_api_server_takes() -> None:
    names = []
    for name, body in worst_requests():
        names.append(name)
        assert len(body) <= LARGEST_BODY, name
        request = json.loads(body)
        observed = [ingress for kind in request["attachments"].values() for ingress in kind.values()]
        for thing in (request["object"], *observed):
            assert len(json.dumps(thing, ensure_ascii=False).encode()) <= LARGEST_OBJECT, name
            annotations = thing["metadata"].get("annotations", {})
            assert len("".join([*annotations, *annotations.values()]).encode()) <= ANNOTATION_BYTES, name
        ports = request["object"]["spec"]["ports"]
        assert len({(port["port"], port.get("protocol")) for port in ports}) == len(ports), name
        assert len({port.get("name") for port in ports}) == len(ports), name
    assert len(set(names)) == len(names)
