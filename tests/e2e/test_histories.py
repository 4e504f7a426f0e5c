"""A short run of tests/histories: `make histories` is the long one."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from devcluster.cluster import DevCluster
from tests.histories.rounds import Plan, Rounds, Seen, made_up_plan, namespace_of, script
from tests.histories.steps import made_up_steps

pytestmark = [pytest.mark.thorough, pytest.mark.usefixtures("one_engine_is_enough")]

STEPS = 20

WITH_FAULTS = 16
"""Histories side by side. Metacontroller tries ten failed Services a second again, so with more it takes longer."""

WITHOUT_FAULTS = 60


@pytest.fixture
def rounds(engine: str) -> Iterator[Rounds]:
    """Yield what plays a round on a cluster of its own: others would not bear the faults, nor wait for a back-off."""
    with DevCluster(engine) as cluster:
        yield Rounds(cluster, Seen())


def test_without_faults_each_step_has_its_effect_and_the_stand_in_writes_what_metacontroller_writes(
    rounds: Rounds, engine: str, record_property: Callable[[str, object], None]
) -> None:
    # With this seed every limit is tightened when there are Ingresses, there is a pause of some steps, and nearly every
    # value that is right is that of a Service which is accepted.
    plan = made_up_plan("short-6804", WITHOUT_FAULTS, STEPS, faults=False)
    with contextlib.ExitStack() as exits, ThreadPoolExecutor() as pool:
        played = [rounds]
        if engine == "metacontroller":
            played.append(Rounds(exits.enter_context(DevCluster("standin")), Seen()))
        for wrong in pool.map(lambda each: each.play(plan), played):
            assert not wrong, "\n\n".join(wrong.values())
    assert rounds.seen.denied
    written = [dict(each.writes.to_ingresses) for each in played]
    for each in written:
        for left_out in matters_of_time(plan):
            each.pop(left_out, None)
    assert written[0] == written[-1]
    made = sum(map(len, written[0].values()))
    record_property("figures", f"{WITHOUT_FAULTS} histories of {STEPS} steps, {made} writes, by {len(played)} engines")


def matters_of_time(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the names, after their namespaces, at which the writes of an engine depend on when it sees what.

    When it tries again where a stranger has taken the name; and whether it sees that a Service is deleted before it
    sees that the garbage collector has deleted the Ingress. If not, it makes another one, which is deleted as well.
    """
    for number, history in enumerate(plan.histories):
        for step in history:
            if step.kind in {"create stranger's", "delete"}:
                yield namespace_of(number), step.name


def test_with_faults_what_stands_in_the_end_is_what_the_docs_say(
    rounds: Rounds, record_property: Callable[[str, object], None]
) -> None:
    wrong = rounds.play(made_up_plan("short-3", WITH_FAULTS, STEPS, faults=True))
    assert not wrong, "\n\n".join(wrong.values())
    assert rounds.seen.faults
    record_property("figures", f"{WITH_FAULTS} histories of {STEPS} steps, with {dict(rounds.seen.faults)}")


def test_a_history_is_made_of_the_same_steps_for_a_seed_and_is_written_as_commands() -> None:
    steps = made_up_steps("1", STEPS)
    assert steps == made_up_steps("1", STEPS) != made_up_steps("2", STEPS)
    commands = script(steps, [None] * STEPS, "history-0")
    assert commands.count("kubectl") == STEPS + 1
