"""Runs a bundle on several runtimes. The last one is judged by the others."""

import dataclasses
import time
from collections.abc import Sequence

from ..base.progress import Step
from ..runtimes.runtime import Runtime
from .bundle import BAD, CRASHED, HUNG, PASSED, SKIPPED, Bundle, Test

AGAIN = 3  # runs of a single test
ROUNDS = 2  # more runs of all tests, where one fails beside others only


@dataclasses.dataclass
class Side:
    """The outcomes of the tests of a package on one runtime."""

    runtime: Runtime
    outcomes: dict[Test, str]
    seconds: float

    def count(self, *outcomes: str) -> int:
        return sum(outcome in outcomes for outcome in self.outcomes.values())

    @property
    def row(self) -> tuple[int, int, int, int]:
        return len(self.outcomes), self.count(PASSED), self.count(*BAD), self.count(SKIPPED)


@dataclasses.dataclass
class Judgement:
    """lost, unsteady: {test: why}; won, everywhere: tests that fail on all others, and on all."""

    package: str
    sides: list[Side]
    lost: dict[Test, str]
    unsteady: dict[Test, str]
    won: list[Test]
    everywhere: dict[Test, str]


def judge(bundle: Bundle, runtimes: Sequence[Runtime]) -> Judgement:
    """The Judgement of the last of `runtimes` by all the others."""
    sides = [_side(bundle, runtime, "") for runtime in runtimes]
    subject, references = sides[-1], sides[:-1]
    lost, unsteady = {}, {}
    suspects = [
        test
        for test, outcome in subject.outcomes.items()
        if outcome in BAD and references and any(_good(side, test) for side in references)
    ]
    beside: dict[Test, int] = {}
    for test in suspects:
        if test not in bundle.listed:
            beside[test] = 1
            continue
        failures = dict.fromkeys(runtimes, 0)
        with Step(f"{bundle.name}: {test} alone, {AGAIN} times on each runtime"):
            for _ in range(AGAIN):
                for runtime in runtimes:
                    failures[runtime] += any(end in BAD for end in bundle.run(runtime, [test]).values())
        told = ", ".join(f"{runtime} {failures[runtime]} of {AGAIN}" for runtime in runtimes)
        if any(failures[side.runtime] for side in references):
            unsteady[test] = f"{subject.outcomes[test]} on {subject.runtime}; alone it fails on {told}"
        elif failures[subject.runtime]:
            lost[test] = f"{subject.outcomes[test]}; alone it fails on {told}"
        else:
            beside[test] = 1
    # What fails beside other tests only: all of them run again, on the references, too.
    elsewhere: dict[Test, Runtime] = {}
    known = {*lost, *(test for side in references for test, outcome in side.outcomes.items() if outcome in BAD)}

    def fails(outcomes: dict[Test, str], test: Test) -> bool:
        # What ends or holds a process may take another test each time.
        ends = (CRASHED, HUNG) if subject.outcomes[test] in (CRASHED, HUNG) else ()
        return outcomes.get(test) in BAD or any(end in ends and one not in known for one, end in outcomes.items())

    for _ in range(ROUNDS if beside else 0):
        for side in sides:
            again = _side(bundle, side.runtime, " again: what failed passes alone")
            side.seconds += again.seconds
            for test in beside:
                if not fails(again.outcomes, test):
                    continue
                if side is subject:
                    beside[test] += 1
                else:
                    elsewhere.setdefault(test, side.runtime)
        if all(test in elsewhere for test in beside):
            break
    for test, failed in beside.items():
        names = ", ".join(getattr(test, "beside", ()))
        what = f"{subject.outcomes[test]}{' while these ran: ' * bool(names)}{names}"
        if test in elsewhere:
            unsteady[test] = f"{what} on {subject.runtime}, and beside the other tests on {elsewhere[test]}"
        elif failed > 1:
            only = ", beside the other tests only" if test in bundle.listed else ""
            lost[test] = f"{what}; {failed} of {ROUNDS + 1} times{only}"
        else:
            unsteady[test] = f"{what} on {subject.runtime} once, and not again"
    won = [
        test
        for test in subject.outcomes
        if references and _good(subject, test) and not any(_good(side, test) for side in references)
    ]
    everywhere = {
        test: outcome for test, outcome in subject.outcomes.items() if outcome in BAD and test not in suspects
    }
    return Judgement(bundle.name, sides, lost, unsteady, won, everywhere)


def _good(side: Side, test: Test) -> bool:
    """Whether a test did not fail there. The end of a process is an entry only if it is bad."""
    return side.outcomes.get(test, PASSED) not in BAD


def _side(bundle: Bundle, runtime: Runtime, why: str) -> Side:
    start = time.monotonic()
    tests = bundle.tests(runtime)
    done = 0

    def show() -> None:
        nonlocal done
        done += 1
        step.text = f"{bundle.name} on {runtime}{why}: {done} of {len(tests)} tests"

    with Step(f"{bundle.name} on {runtime}{why}: {len(tests)} tests") as step:
        outcomes = bundle.run(runtime, tests, show)
    return Side(runtime, outcomes, time.monotonic() - start)
