"""The node that tests share. Where none can run, the tests are skipped, and the summary says why."""

from collections.abc import Iterator

import pytest

from devcluster.errors import MissingProgram
from devcluster.node import namespaces
from devcluster.node.node import Node
from tools.node import whole


def stopped_node() -> Node:
    """Return a node with nothing installed, which starts when it is entered; skip the tests where none can run."""
    if reason := namespaces.lacking():
        pytest.skip(f"NOTHING RAN ON A NODE. {reason}")
    try:
        return whole(print)
    except MissingProgram as missing:
        pytest.skip(f"NOTHING RAN ON A NODE. {missing}")


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """Yield a node with nothing installed."""
    with stopped_node() as node:
        yield node


@pytest.fixture(scope="module")
def own_node() -> Iterator[Node]:
    """Yield another one, for tests after which a node is not as it was."""
    with stopped_node() as node:
        yield node
