"""A minute of tests/histories with faults: the program is the long one, and test_standin.py has one without."""

from devcluster.cluster import DevCluster
from tests.histories.rounds import Plan, play


def test_with_faults_nothing_is_left_to_be_done_in_the_end(engine: str) -> None:
    # A cluster of its own: others would not bear the faults, nor wait for a back-off.
    plan = Plan("short-3", 16, 20, faults=True)
    with DevCluster(engine) as cluster:
        wrong = play(cluster, plan)
    assert not wrong, [f"{why}\n{plan.script(number)}" for number, why in wrong.items()]
    assert {*plan.kills} == {"", "hook", "engine"}
