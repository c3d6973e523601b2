"""How long things may take, and how a section runs polyfold."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.status import Status

import polyfold as pf
from cases import Case
from processes import Waiting, WorkerError, run

Measured = dict[str, Any]
QUIET = 0.95
PICTURES = Path(__file__).parents[1] / "docs" / "images"


@dataclass
class Bench:
    """The limits of this run, a folder for the workers' files, and a line on standard error that says what goes on."""

    folder: Path
    relucent: str | None
    before: str | None
    verifiers: str | None
    relucent_seconds: float
    baseline_seconds: float
    repeat_seconds: float
    quick: bool
    pictures: Path  # where plots go: those of quick runs do not replace the page's
    console: Console = field(default_factory=lambda: Console(stderr=True))
    status: Status | None = None
    shares: list[float] = field(default_factory=list)  # of a core, that calls with one thread got

    @classmethod
    def make(cls, folder: Path, options: argparse.Namespace) -> Bench:
        """The limits that the command line asks for."""
        quick = options.quick
        return cls(
            folder=folder,
            relucent=options.relucent,
            before=options.before,
            verifiers=options.verifiers,
            relucent_seconds=options.relucent_seconds or (6.0 if quick else 60.0),
            baseline_seconds=options.baseline_seconds or (4.0 if quick else 120.0),
            repeat_seconds=0.3 if quick else 3.0,
            quick=quick,
            pictures=folder if quick else PICTURES,
        )

    @contextmanager
    def watched(self, name: str) -> Iterator[None]:
        """A section, with its line on standard error."""
        started = time.perf_counter()
        with self.console.status(name) as self.status:
            yield
        self.status = None
        self.console.print(f"{name}: {time.perf_counter() - started:.0f} s", highlight=False)

    def say(self, text: str) -> None:
        """What is being measured now."""
        if self.status and self.console.is_terminal:
            self.status.update(text)
        else:
            self.console.print(f"  {text}", highlight=False)

    def file(self, case: Case | Path) -> tuple[Path, str]:
        """A case's file and its name; the one case that is a file already is the real network."""
        return (case, "ACAS-Xu") if isinstance(case, Path) else (case.write(self.folder), case.label)

    def polyfold(self, case: Case | Path, task: str = "unfold", threads: int = 1) -> Measured:
        """One of polyfold's calls, timed."""
        path, label = self.file(case)
        self.say(f"{label}: pf.{task}, {threads} thread{'s' * (threads > 1)}")
        measured = run("run_polyfold", path, task, threads, self.repeat_seconds)
        if measured is None or not measured["complete"]:
            raise WorkerError(f"{label}: pf.{task} did not come to its end")
        if threads == 1:
            self.shares.append(measured["cpu_seconds"] / measured["seconds"])
        return measured

    def in_turns(
        self,
        case: Case | Path,
        tasks: Sequence[tuple[str, int]],
        versions: Sequence[str | None],
        seconds: float,
        limit: int | None = None,
    ) -> list[list[Measured]]:
        """For every version of polyfold, by its Python or None for ours, what these tasks take on so many threads.

        All are done in turns, and medians are taken, so that a machine that slows down slows down everything. More
        CPU-seconds than the limit for one of the versions raise OutOfTimeError.
        """
        path, label = self.file(case)
        self.say(f"{label}: {', '.join(f'pf.{task} on {threads}' for task, threads in tasks)}, in turns")
        rounds = 2 if self.quick else 3
        arguments = (path,) if limit is None else (path, limit)
        with ExitStack() as stack:
            workers = [
                stack.enter_context(Waiting("run_in_turns", *arguments, python=python or sys.executable))
                for python in versions
            ]
            # The first calls import modules and make memory resident; their answers are dropped.
            answers = [
                [[worker.ask(task, threads, part) for task, threads in tasks] for worker in workers]
                for part in (0.0, *[seconds / rounds] * rounds)
            ][1:]
        measured = [
            [_median_of([turn[version][task] for turn in answers]) for task in range(len(tasks))]
            for version in range(len(versions))
        ]
        for (task, threads), *found in zip(tasks, *measured, strict=True):
            if not all(each["complete"] for each in found):
                raise WorkerError(f"{label}: pf.{task} did not come to its end")
            if threads == 1:
                self.shares += [each["cpu_seconds"] / each["seconds"] for each in found]
        return measured

    def baseline(self, case: Case | Path, method: str) -> Measured | None:
        """One of our baselines, timed; None where it took too long."""
        path, label = self.file(case)
        self.say(f"{label}: {method}, at most {self.baseline_seconds:g} CPU-seconds")
        return run("run_baseline", method, path, self.baseline_seconds)


def _median_of(answers: list[Measured]) -> Measured:
    return answers[0] | {
        name: median(each[name] for each in answers) for name in ("cpu_seconds", "calling_seconds", "seconds")
    }


def quietness(shares: list[float]) -> str:
    """How quiet the machine was, by what share of a core one thread got."""
    if not shares:
        return ""
    share = f"{100 * median(shares):.0f} % of a core (median), {100 * min(shares):.0f} % at worst"
    if median(shares) >= QUIET:
        return f"Calls with one thread got {share}."
    return f"**The machine was busy: calls with one thread got {share}. Wall times and ratios of threads mean little.**"


def can(task: str) -> bool:
    """Whether this polyfold has a function of that name: tables leave out what it cannot do."""
    return hasattr(pf, task)


def rate(measured: Measured) -> float:
    """Cells per CPU-second."""
    return float(measured["cells"]) / float(measured["cpu_seconds"])


def slope(x: list[float], y: list[float]) -> float:
    """The exponent p of the power law y ~ x^p that fits best on logarithmic scales."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
