"""A short run of tests/histories with faults: the program is the long one, and test_standin.py has one without."""

from collections.abc import Callable

from devcluster.cluster import DevCluster
from tests.histories.rounds import Rounds, Seen, made_up_plan, script

STEPS = 20

HISTORIES = 16
"""Histories side by side. Metacontroller tries ten failed Services a second again, so with more it takes longer."""


def test_with_faults_nothing_is_left_to_be_done_in_the_end(
    engine: str, record_property: Callable[[str, object], None]
) -> None:
    # A cluster of its own: others would not bear the faults, nor wait for a back-off.
    with DevCluster(engine) as cluster:
        rounds = Rounds(cluster, Seen())
        wrong = rounds.play(made_up_plan("short-3", HISTORIES, STEPS, faults=True))
    assert not wrong, "\n\n".join(wrong.values())
    assert rounds.seen.faults
    record_property("figures", f"{HISTORIES} histories of {STEPS} steps, with {dict(rounds.seen.faults)}")


def test_a_history_is_made_of_the_same_steps_for_a_seed_and_can_be_read() -> None:
    plan, again, other = (made_up_plan(seed, 1, STEPS, faults=True) for seed in ("1", "1", "2"))
    assert plan == again != other
    assert script(plan, 0).count(". ") >= STEPS
