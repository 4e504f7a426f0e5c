"""Some random histories, as `python -m tests.histories` plays many."""

from devcluster.cluster import DevCluster
from tests.histories.rounds import Plan, play


def test_without_faults_each_step_has_its_effect() -> None:
    """After each step nothing is left to be done. In which order an engine writes is promised by nobody."""
    with DevCluster() as cluster:
        wrong = play(cluster, Plan("short-6804", 15, 16, faults=False))
    assert not wrong, "\n\n".join(wrong)


def test_with_faults_nothing_is_left_to_be_done_in_the_end() -> None:
    # A cluster of its own: others would not bear the faults, nor wait for a back-off.
    plan = Plan("short-3", 16, 20, faults=True)
    with DevCluster() as cluster:
        wrong = play(cluster, plan)
    assert not wrong, "\n\n".join(wrong)
    assert {*plan.kills} == {"", "hook", "engine"}
