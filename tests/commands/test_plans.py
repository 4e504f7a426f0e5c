"""Carrying out many plans together: several at a time, a Service's plans one by one, until one fails."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest

from ingress_manager.commands.plans import plan
from ingress_manager.commands.plans.plan import MOST_CONCURRENT, Condition, Plan, SharedLists, Step
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.snapshot.items import Item

PATIENCE = 10
Patch = pytest.MonkeyPatch


def plans(services: Iterable[str], until: Sequence[Condition] = ()) -> list[Plan]:
    made = list[Plan]()
    for number, service in enumerate(services):
        item = Item({"kind": "Service", "metadata": {"namespace": "team-a", "name": service}})
        steps = [Step(("kubectl", "begin", f"{number}")), Step(("kubectl", "end", f"{number}"), until=until)]
        made.append(Plan(item, f"{number}", steps, done=f"{number} is done."))
    return made


def kubectl_does(patch: Patch, does: Callable[[str, int], object]) -> None:
    patch.setattr(Kubectl, "run", lambda _, verb, number, **__: does(verb, int(number)) or "")


def printed(numbers: Sequence[int]) -> str:
    return "".join(f"$ kubectl begin {number}\n$ kubectl end {number}\n{number} is done.\n" for number in numbers)


def test_plans_run_together_and_print_in_order(monkeypatch: Patch, capsys: pytest.CaptureFixture[str]) -> None:
    number, together, lock = 3 * MOST_CONCURRENT, threading.Barrier(MOST_CONCURRENT, timeout=PATIENCE), threading.Lock()
    running, most = set[int](), set[int]()

    def does(verb: str, number: int) -> None:
        with lock:
            (running.add if verb == "begin" else running.discard)(number)
            most.add(len(running))
        together.wait()
        # A later plan ends earlier.
        time.sleep(0.002 * (MOST_CONCURRENT - number % MOST_CONCURRENT))

    kubectl_does(monkeypatch, does)
    assert plan.perform(Kubectl(), plans(map(str, range(number))), apply=True) == 0
    assert capsys.readouterr() == (printed(range(number)), "")
    assert max(most) == MOST_CONCURRENT


def test_the_plans_of_one_service_run_one_after_the_other(monkeypatch: Patch) -> None:
    done = list[tuple[str, int]]()

    def does(verb: str, number: int) -> None:
        time.sleep(0.01)
        done.append((verb, number))

    kubectl_does(monkeypatch, does)
    plan.perform(Kubectl(), plans(["shop", "cart"] * MOST_CONCURRENT), apply=True)
    for service in (0, 1):
        own = [number for _, number in done if number % 2 == service]
        assert own == sorted(own)


def test_after_a_failure_no_other_plan_begins(monkeypatch: Patch, capsys: pytest.CaptureFixture[str]) -> None:
    begun, all_begun, failed = set[int](), threading.Barrier(MOST_CONCURRENT, timeout=PATIENCE), threading.Event()

    def does(verb: str, number: int) -> None:
        if verb == "end":
            return
        begun.add(number)
        all_begun.wait()
        if number == 0:
            failed.set()
            raise KubectlFailed("Error from server: no")
        assert failed.wait(PATIENCE)
        time.sleep(0.5)

    kubectl_does(monkeypatch, does)
    with pytest.raises(KubectlFailed) as raised:
        plan.perform(Kubectl(), plans(map(str, range(2 * MOST_CONCURRENT))), apply=True)
    assert begun == {*range(MOST_CONCURRENT)}
    assert capsys.readouterr().out == "$ kubectl begin 0\n" + printed(range(1, MOST_CONCURRENT))
    assert raised.value.message == (
        "0: Error from server: no\nRun so far:\n  kubectl begin 0\nTo continue, run the same command again.\n"
        f"{MOST_CONCURRENT} of {2 * MOST_CONCURRENT} plans were not started."
    )


def test_plans_share_a_list_requested_after_they_began_to_wait(monkeypatch: Patch) -> None:
    lists, begun, go_on = list[Item](), threading.Event(), threading.Event()

    def get(*_: object) -> list[Item]:
        lists.append(Item({"metadata": {"name": "shop"}}))
        begun.set()
        assert go_on.wait(PATIENCE)
        return [lists[-1], Item({"metadata": {"name": "cart"}})]

    monkeypatch.setattr(Kubectl, "get", get)
    looks, shop = SharedLists(Kubectl()), Condition("", ("kubectl", "get", "--", "ingress", "shop"), lambda _: True, "")
    with ThreadPoolExecutor(MOST_CONCURRENT) as pool:
        first = pool.submit(looks.get, shop)
        assert begun.wait(PATIENCE)
        others = [pool.submit(looks.get, shop) for _ in range(MOST_CONCURRENT - 1)]
        time.sleep(0.2)
        go_on.set()
    assert first.result() == [lists[0]]
    assert 1 < len(lists) < MOST_CONCURRENT
    assert all(seen is not lists[0] for other in others for seen in other.result())


def test_ctrl_c_ends_waiting_plans_and_lists_the_steps_so_far(monkeypatch: Patch) -> None:
    never = Condition("it is there", ("kubectl", "get", "--", "ingress"), lambda _: False, "it isn't")
    both_wait, presses, looks = threading.Event(), iter([KeyboardInterrupt()]), set[int]()

    def looked(*_: object) -> list[Item]:
        looks.add(threading.get_ident())
        if len(looks) == 2:
            both_wait.set()
        return []

    def waited(futures: Sequence[Future[str | None]], timeout: float | None = None) -> object:
        if timeout and (press := next(presses, None)):
            assert both_wait.wait(PATIENCE)
            raise press
        return wait(futures, timeout)

    kubectl_does(monkeypatch, lambda *_: None)
    monkeypatch.setattr(plan, "wait", waited)
    monkeypatch.setattr(SharedLists, "get", looked)
    with pytest.raises(KubectlFailed) as raised:
        plan.perform(Kubectl(), plans(["shop", "cart", "shop"], [never]), apply=True)
    begun = "Run so far:\n  kubectl begin {0}\n  kubectl end {0}\nTo continue, run the same command again.\n"
    of_each = [f"{number}: interrupted\n{begun.format(number)}" for number in (0, 1)]
    assert raised.value.message == f"{''.join(of_each)}1 of 3 plans were not started."
