"""What do further threads bring?"""

from __future__ import annotations

import os
from pathlib import Path

from cases import Case, write_acasxu
from report import Section, Table, figure
from settings import Bench, Measured

CASES = (Case((3, 128, 128, 1), 1.5), Case((5, 24, 24, 1), 2.2))
QUICK = (Case((3, 64, 64, 1), 1),)
# The least that two threads are to bring.
AIMS = {"count": 1.9, "unfold": 1.8, "certify": 1.8}


def section(bench: Bench) -> Section:
    cores = os.cpu_count() or 1
    counts = [many for many in (2, 4, 8, 16, 32, 64) if many <= max(2, cores)]
    table = Table(
        [
            "network",
            "call",
            "cells",
            "threads",
            "one thread, s",
            "s",
            "ratio",
            "aim",
            "CPU-seconds, to one",
            "serial",
            "by CPU",
        ]
    )
    for label, case in _networks(bench):
        tasks = [(task, threads) for task in AIMS for threads in (1, *counts)]
        (measured,) = bench.in_turns(case, tasks, [None], bench.repeat_seconds)
        by_task = dict(zip(tasks, measured, strict=True))
        for task, threads in tasks:
            if threads == 1:
                continue
            one, more = by_task[task, 1], by_task[task, threads]
            ratio = one["seconds"] / more["seconds"]
            table.rows.append(
                [
                    label,
                    f"`pf.{task}`",
                    f"{one['cells']:,}",
                    str(threads),
                    figure(one["seconds"]),
                    figure(more["seconds"]),
                    f"{ratio:.2f} x",
                    f"{AIMS[task]:.1f} x" if threads == 2 else "",
                    f"{more['cpu_seconds'] / one['cpu_seconds']:.2f}",
                    f"{100 * serial_share(ratio, threads):.0f} %",
                    f"{100 * serial_seconds(one, more, threads) / one['cpu_seconds']:.0f} %",
                ]
            )
    how = (
        "Wall time of more threads against one, in turns. `CPU-seconds, to one` says how much more work more threads "
        "have: 1 would be the same work shared out. `serial` is what one thread alone would have to do for this ratio "
        "if all else were shared out without loss (Karp and Flatt): (threads / ratio - 1) / (threads - 1). `by CPU` "
        "is the same share by the CPU-seconds of the calling thread, which waits for the search and then does its "
        "part of the rest: what of it further threads take nothing of. It means something on a busy machine, too. How "
        "the queue would do on up to 64 threads: `python tools/simulate_threads.py`."
    )
    notes = [] if cores > 1 else ["**This machine has one core: the ratio says nothing.**"]
    return Section("Threads", how, table, notes)


def serial_share(ratio: float, threads: int) -> float:
    """The share of the work that is not shared out, by what the ratio falls short of the number of threads.

    >>> serial_share(2.0, 2), serial_share(1.0, 4)
    (0.0, 1.0)
    """
    return (threads / ratio - 1) / (threads - 1)


def serial_seconds(one: Measured, more: Measured, threads: int) -> float:
    """CPU-seconds of the calling thread that more threads take nothing of.

    Besides waiting for the search, it does its part of what is behind the search: s + p / threads where one thread does
    s + p.

    >>> serial_seconds({"calling_seconds": 3.0}, {"calling_seconds": 2.0}, 2)
    1.0
    """
    return max(0.0, (threads * more["calling_seconds"] - one["calling_seconds"]) / (threads - 1))


def _networks(bench: Bench) -> list[tuple[str, Case | Path]]:
    found: list[tuple[str, Case | Path]] = [(case.label, case) for case in (QUICK if bench.quick else CASES)]
    real = None if bench.quick else write_acasxu(bench.folder)
    return found if real is None else [*found, ("ACAS-Xu 1_1, property 3", real)]
