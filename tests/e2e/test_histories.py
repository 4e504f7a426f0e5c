"""A short run of tests/histories: `make histories` is the long one."""

from collections.abc import Callable, Iterator

import pytest

from devcluster.cluster import DevCluster
from tests.histories.rounds import Rounds, Seen, made_up_plan, script
from tests.histories.steps import made_up_steps

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("one_engine_is_enough")]

TOGETHER = 80
STEPS = 20


@pytest.fixture(scope="module")
def rounds(engine: str) -> Iterator[Rounds]:
    """Yield what plays rounds on a cluster of its own: others would not bear the faults."""
    with DevCluster(engine) as cluster:
        yield Rounds(cluster, Seen())


def test_with_faults_what_stands_in_the_end_is_what_the_docs_say(
    rounds: Rounds, record_property: Callable[[str, object], None]
) -> None:
    wrong = rounds.play(made_up_plan("short-3", TOGETHER, STEPS, faults=True))
    assert not wrong, "\n\n".join(wrong.values())
    assert rounds.seen.faults
    record_property("figures", f"{TOGETHER} histories of {STEPS} steps, with {dict(rounds.seen.faults)}")


def test_without_faults_each_step_has_its_effect_and_the_stand_in_writes_what_metacontroller_writes(
    rounds: Rounds, engine: str, record_property: Callable[[str, object], None]
) -> None:
    # This seed tightens every limit when there are Ingresses, and pauses for some steps.
    plan = made_up_plan("short-7522", TOGETHER, STEPS, faults=False)
    wrong = rounds.play(plan)
    assert not wrong, "\n\n".join(wrong.values())
    assert rounds.seen.denied
    if engine == "metacontroller":
        with DevCluster("standin") as cluster:
            others = Rounds(cluster, Seen())
            assert not others.play(plan)
        assert rounds.written == others.written
    record_property(
        "figures", f"{TOGETHER} histories of {STEPS} steps, {sum(map(len, rounds.written.values()))} writes"
    )


def test_a_history_is_made_of_the_same_steps_for_a_seed_and_is_written_as_commands() -> None:
    steps = made_up_steps("1", STEPS)
    assert steps == made_up_steps("1", STEPS) != made_up_steps("2", STEPS)
    commands = script(steps, [None] * STEPS, "history-0")
    assert commands.count("kubectl") == STEPS + 1
