"""How the queue of native/geometry/walk/run.hpp would do on up to 64 threads, by simulation on trees of real networks.

    python tools/simulate_threads.py [--latency MICROSECONDS] [--split CELLS] [--file MODEL --low X ... --high X ...]

A network is unfolded on one thread, which tells its tree of cells and what a cell costs. Then events are played through
as the threads would cause them: each cuts a cell down to one that it can list at once, keeps the others on a stack, and
between two of these gives the bottom of its stack away if there are more threads without work than tasks for them.
A thread that waits hears of a task after `--latency`. Cutting a cell in two costs as much as listing `--split` cells.
What is behind the search (joining, pairing, checks, digests) is shared out by other means and not simulated.
"""

from __future__ import annotations

import argparse
import heapq
import time
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

import polyfold as pf
from polyfold.atlas.patterns import unpack

THREADS = (1, 2, 4, 8, 16, 32, 64)
NETWORKS = (((3, 128, 128, 1), 1.0), ((5, 24, 24, 1), 1.5), ((2, 128, 128, 128, 1), 1.0), ((8, 10, 10, 1), 2.0))


@dataclass(frozen=True)
class Tree:
    """Leaves are cells before their last stage, each with the cells that are listed from it at once, in order.

    Inner node k cuts the leaves of its subtree in two behind leaf k; its children are inner nodes, or ~leaf.
    """

    cells: npt.NDArray[np.int64]  # of each leaf
    left: list[int]
    right: list[int]
    root: int

    @classmethod
    def of(cls, signs: npt.NDArray[np.bool_]) -> Tree:
        """From the gates of all stages but the last, of all cells in the engine's order."""
        differ = signs[1:] != signs[:-1]
        ends = np.flatnonzero(differ.any(axis=1))
        first_gate = differ[ends].argmax(axis=1)
        cells = np.diff(np.concatenate([[-1], ends, [len(signs) - 1]]))
        # Of neighbours in this order the ones that part at the first gate part first: a tree by least gates.
        count = len(ends)
        left, right = [~k for k in range(count)], [~(k + 1) for k in range(count)]
        stack: list[int] = []
        for k in range(count):
            last = None
            while stack and first_gate[stack[-1]] > first_gate[k]:
                last = stack.pop()
            if last is not None:
                left[k] = last
            if stack:
                right[stack[-1]] = k
            stack.append(k)
        return cls(cells.astype(np.int64), left, right, stack[0] if stack else ~0)


@dataclass
class Play:
    """One run of so many threads over a tree; times are in seconds."""

    tree: Tree
    threads: int
    cell: float
    split: float
    latency: float
    now: float = 0.0
    busy: float = 0.0
    tasks: int = 1
    idle: int = 0
    given: deque[int] = field(default_factory=deque)
    events: list[tuple[float, int, str, int]] = field(default_factory=list)
    made: int = 0

    def at(self, when: float, what: str, thread: int) -> None:
        """Something will happen; of several things at the same time the one that was caused first."""
        self.made += 1
        heapq.heappush(self.events, (when, self.made, what, thread))

    def __call__(self) -> Play:
        """To the end."""
        stacks: list[deque[int]] = [deque() for _ in range(self.threads)]
        leaf = [0] * self.threads
        waiting: deque[int] = deque(range(1, self.threads))
        self.idle = len(waiting)
        stacks[0].append(self.tree.root)
        self.at(0.0, "next", 0)
        while self.events:
            self.now, _, what, thread = heapq.heappop(self.events)
            stack = stacks[thread]
            if what == "wake" and self.given:
                self.idle -= 1
                stack.append(self.given.popleft())
                what = "next"
            elif what == "wake":
                waiting.append(thread)
            if what == "next" and stack:
                node, splits = stack.pop(), 0
                while node >= 0:
                    stack.append(self.tree.right[node])
                    node = self.tree.left[node]
                    splits += 1
                leaf[thread] = ~node
                self.busy += splits * self.split
                self.at(self.now + splits * self.split, "cut", thread)
            elif what == "next":
                self.idle += 1
                if self.given:
                    self.at(self.now, "wake", thread)
                else:
                    waiting.append(thread)
            elif what == "cut":
                if self.idle > len(self.given) and stack:
                    self.given.append(stack.popleft())
                    self.tasks += 1
                    if waiting:
                        self.at(self.now + self.latency, "wake", waiting.popleft())
                listing = float(self.tree.cells[leaf[thread]]) * self.cell
                self.busy += listing
                self.at(self.now + listing, "next", thread)
        return self


def random_layers(widths: tuple[int, ...]) -> list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Uniform weights and biases within one over the square root of the inputs, as torch draws them."""
    rng = np.random.default_rng(0)
    return [
        (rng.uniform(-1, 1, (to, of)) / np.sqrt(of), rng.uniform(-1, 1, to) / np.sqrt(of))
        for of, to in pairwise(widths)
    ]


def show(console: Console, name: str, network: pf.Network, domain: pf.Domain, options: argparse.Namespace) -> None:
    """A table for one network."""
    atlas = pf.unfold(network, domain, threads=1)
    started = time.process_time()
    pf.count(network, domain, threads=1)
    seconds = time.process_time() - started
    before_last = atlas.gates - atlas.program.stages[-1].width
    tree = Tree.of(unpack(atlas.patterns, atlas.gates)[:, :before_last])
    cell = seconds / (len(atlas) + options.split * len(tree.left))
    title = (
        f"{name}: {len(atlas):,} cells in {len(tree.cells):,} leaves, the largest with {tree.cells.max():,}; "
        f"{1e6 * cell:.2f} us a cell"
    )
    table = Table("threads", "speedup", "idle share", "tasks", title=title)
    alone = 0.0
    for threads in THREADS:
        play = Play(tree, threads, cell, options.split * cell, 1e-6 * options.latency)()
        alone = alone or play.now
        idle = 1 - play.busy / (threads * play.now)
        table.add_row(str(threads), f"{alone / play.now:.2f}", f"{100 * idle:.1f} %", f"{play.tasks:,}")
    console.print(table)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description="Simulate the engine's threads.")
    parser.add_argument("--latency", type=float, default=20.0, help="microseconds until a waiting thread has a task")
    parser.add_argument("--split", type=float, default=1.0, help="what cutting a cell costs, in cells listed")
    parser.add_argument("--file", help="a model that pf.load reads")
    parser.add_argument(
        "--low", type=float, nargs="+", default=[-1.0], help="the lower ends of its box, or one for all"
    )
    parser.add_argument("--high", type=float, nargs="+", default=[1.0], help="the upper ends")
    options = parser.parse_args()
    console = Console()
    if options.file:
        network = pf.load(options.file)
        low, high = (side if len(side) > 1 else side[0] for side in (options.low, options.high))
        show(console, options.file, network, pf.box(low, high), options)
        return
    for widths, radius in NETWORKS:
        name = f"{','.join(map(str, widths))} on [-{radius:g}, {radius:g}]^{widths[0]}"
        show(console, name, pf.load(random_layers(widths)), pf.box(-radius, radius), options)


if __name__ == "__main__":
    main()
