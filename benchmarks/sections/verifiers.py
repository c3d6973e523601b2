"""How does polyfold compare with verifiers, on questions that both answer?"""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cases import Case, write_acasxu
from networks import linear_layers, torch_default
from onnx_file import write_onnx
from processes import WorkerError, run
from report import Section, Table, figure
from settings import Bench, Measured
from workers.archive import Floats, Layers, read, write
from workers.verifiers import Query, write_queries

PEERS = {"vibecheck": "vibecheck", "marabou": "Marabou"}
# CPU-seconds for all queries of a question.
LIMIT, QUICK_LIMIT = 30.0, 15.0
# Verifiers are given the extreme value and have to prove it from both sides, to this share of the range.
SHARE = 1e-3
# Of outputs of functions that are the same.
SAME = 1e-4

Box = tuple[Floats, Floats]


@dataclass(frozen=True)
class Question:
    """What polyfold is asked; and with its answer what verifiers are asked, and have to answer if it is right."""

    text: str
    words: tuple[str, ...]  # for polyfold's worker
    queries: Callable[[Measured], tuple[list[Query], list[str]]]
    answer: Callable[[Measured], str]


def section(bench: Bench) -> Section:
    title = "Verifiers"
    if bench.verifiers is None:
        return Section(title, "Not compared: no environment with the verifiers was given.", None)
    limit = QUICK_LIMIT if bench.quick else LIMIT
    headings = ["question", "polyfold: answer", "CPU-s", "after the start"]
    for peer in PEERS.values():
        headings += [f"{peer}: CPU-s", "after the start", "ratio"]
    table, notes = Table(headings), []
    for question in _questions(bench):
        bench.say(f"{question.text}: polyfold")
        ours, whole = timed("run_question", question.words)
        assert ours is not None
        row = [question.text, question.answer(ours), figure(whole), figure(ours["cpu_seconds"])]
        queries, expected = question.queries(ours)
        path = bench.folder / "queries.json"
        write_queries(path, queries)
        for peer, name in PEERS.items():
            bench.say(f"{question.text}: {name}, at most {limit:g} CPU-seconds")
            try:
                theirs, took = timed("run_verifier", (peer, path, limit), bench.verifiers)
            except WorkerError as error:
                notes.append(f"**{question.text}: {name} failed: {error}.**")
                row += ["failed", "-", "-"]
                continue
            if theirs is None:
                row += [f"> {limit:g}, ended", "-", f"> {limit / whole:,.1f} x"]
                continue
            if theirs["answers"] != expected:
                notes.append(f"**{question.text}: {name} answers {theirs['answers']}, expected {expected}.**")
            row += [figure(took), figure(theirs["cpu_seconds"]), f"{took / whole:,.1f} x"]
        table.rows.append(row)
    agree = "" if notes else " All answers that were given agree."
    how = (
        "CPU-seconds of whole processes, the start of Python and all imports included, and those from there to the "
        "answer; one thread. `ratio` is of whole processes. For a maximum polyfold gives the exact one, while "
        "verifiers are told it and have to prove that nothing lies above it and to find a point that reaches it, both "
        f"to {SHARE:g} of the output's range: finding it by bisection would take them some ten such queries. For a "
        "class they prove that no other output reaches its, or find where one does, as two queries. For an "
        f"equivalence they get the difference of both networks as one network and have to prove it below {SAME:g} on "
        "either side; polyfold proves that it is zero, or says where it is not. vibecheck-nn 1.1.0 and maraboupy "
        f"2.0.0 run in an environment of their own, on the CPU, by their default settings.{agree}"
    )
    return Section(title, how, table, notes)


def timed(worker: str, words: tuple[object, ...], python: str = sys.executable) -> tuple[Measured | None, float]:
    """What a worker answers, and the CPU-seconds of its whole process."""
    before = _of_children()
    answer = run(worker, *words, python=python)
    return answer, _of_children() - before


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _questions(bench: Bench) -> Iterator[Question]:
    cases = (Case((2, 32, 32, 1), 1), Case((3, 32, 32, 1), 1), Case((5, 16, 16, 1), 1))
    for case in cases[:1] if bench.quick else cases:
        yield _maximum(bench, f"largest output, {case.label}", case.write(bench.folder))
    real = None if bench.quick else write_acasxu(bench.folder)
    if real is not None:
        yield _maximum(bench, "largest first output, ACAS-Xu 1_1, property 3", real)
    for radius in (0.1,) if bench.quick else (0.1, 0.5):
        yield _constant(bench, Case((4, 16, 16, 3), radius))
    for differs in (False,) if bench.quick else (False, True):
        yield _equivalent(bench, Case((3, 16, 16, 1), 1), differs)


def _maximum(bench: Bench, text: str, path: Path) -> Question:
    layers, box = read(path)
    ask = _asker(bench, path.stem, layers, box)

    def queries(ours: Measured) -> tuple[list[Query], list[str]]:
        near = SHARE * (ours["maximum"] - ours["lowest_seen"])
        first = [1.0, *[0.0] * (len(layers[-1][1]) - 1)]
        return [ask(first, ours["maximum"] + near), ask(first, ours["maximum"] - near)], ["unsat", "sat"]

    return Question(
        text, ("maximum", str(path)), queries, lambda ours: f"{ours['maximum']:.6g}, {ours['cells']:,} cells"
    )


def _constant(bench: Bench, case: Case) -> Question:
    path = case.write(bench.folder)
    layers, box = read(path)
    ask = _asker(bench, path.stem, layers, box)

    def queries(ours: Measured) -> tuple[list[Query], list[str]]:
        ahead, asked = ours["class"], []
        for other in range(len(layers[-1][1])):
            if other != ahead:
                coefficients = [0.0] * len(layers[-1][1])
                coefficients[ahead], coefficients[other] = -1.0, 1.0
                asked.append(ask(coefficients, 0.0))
        return asked, ["unsat" if behind > 0 else "sat" for behind in ours["behind"]]

    def answer(ours: Measured) -> str:
        return "yes" if min(ours["behind"]) > 0 else "no"

    return Question(f"is the class constant, {case.label}", ("constant", str(path)), queries, answer)


def _equivalent(bench: Bench, case: Case, differs: bool) -> Question:
    layers = linear_layers(torch_default(case.widths))
    other = disguised(layers, differs)
    corner = np.full(case.widths[0], float(case.radius or 0))
    box = (-corner, corner)
    paths = [bench.folder / f"{side}_{differs}.npz" for side in ("one", "other")]
    for path, each in zip(paths, (layers, other), strict=True):
        write(path, each, box)
    ask = _asker(bench, f"difference_{differs}", difference(layers, other), box)

    def queries(ours: Measured) -> tuple[list[Query], list[str]]:
        asked = [ask([1.0], SAME), ask([-1.0], SAME)]
        return asked[: 1 if differs else 2], ["sat"] if differs else ["unsat", "unsat"]

    what = "are they the same, gate by gate scaled and in another order" + (", one bias changed" if differs else "")
    return Question(
        f"{what}, {case.label}", ("equivalent", *map(str, paths)), queries, lambda ours: str(ours["verdict"])
    )


def disguised(layers: Layers, differs: bool) -> Layers:
    """The same function by gates in another order, scaled by powers of two; or one that is larger by 1/64 somewhere."""
    rng, found, before = np.random.default_rng(0), [], None
    for k, (weight, bias) in enumerate(layers):
        last = k + 1 == len(layers)
        order = np.arange(len(bias)) if last else rng.permutation(len(bias))
        scale = np.ones(len(bias)) if last else 2.0 ** rng.integers(-2, 3, len(bias))
        if before is not None:
            weight = weight[:, before[0]] / before[1][before[0]]
        found.append((weight[order] * scale[order, None], bias[order] * scale[order]))
        before = order, scale
    if differs:
        found[-1] = (found[-1][0], (found[-1][1] + 1 / 64).astype(np.float32).astype(np.float64))
    return found


def difference(one: Layers, other: Layers) -> Layers:
    """The network whose output is the first one's less the second one's: both side by side."""
    found = [(np.vstack([one[0][0], other[0][0]]), np.concatenate([one[0][1], other[0][1]]))]
    for (weight, bias), (weight_there, bias_there) in zip(one[1:-1], other[1:-1], strict=True):
        (rows, columns), (rows_there, columns_there) = weight.shape, weight_there.shape
        beside, below = np.zeros((rows, columns_there)), np.zeros((rows_there, columns))
        found.append((np.block([[weight, beside], [below, weight_there]]), np.concatenate([bias, bias_there])))
    bias = (one[-1][1] - other[-1][1]).astype(np.float32).astype(np.float64)
    return [*found, (np.hstack([one[-1][0], -other[-1][0]]), bias)]


def _asker(bench: Bench, name: str, layers: Layers, box: Box | None) -> Callable[[list[float], float], Query]:
    """Queries about a network on its box."""
    assert box is not None
    network = bench.folder / f"{name}.onnx"
    write_onnx(network, layers)
    low, high = (side.tolist() for side in box)
    return lambda coefficients, bound: Query(str(network), low, high, coefficients, bound)
