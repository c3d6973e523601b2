"""The page that `make bench` writes, and the comparison of instruction counts."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import SECTIONS, page, page_with
from cases import Case
from instructions import AIMS, KEPT, worse
from networks import linear_layers, torch_default
from onnx_file import write_onnx
from processes import OutOfTimeError, WorkerError, run
from report import Section, Table
from sections.verifiers import difference, disguised
from settings import Bench, quietness, slope
from tools.simulate_threads import Play, Tree
from workers.archive import Layers


def quick_bench(folder: Path) -> Bench:
    """Without the environments of others."""
    options = Namespace(
        quick=True, relucent=None, before=None, verifiers=None, relucent_seconds=None, baseline_seconds=2.0
    )
    return Bench.make(folder, options)


def test_the_page_holds_every_section() -> None:
    table = Table(["network", "cells"], [["2,4,1", "11"]])
    text = page([Section("First", "How.", table, ["a note"]), Section("Second", "Not measured.", None)], quick=True)
    assert "## First\n\nHow.\n\n| network | cells |\n| --- | ---: |\n| 2,4,1 | 11 |\n\n- a note" in text
    assert text.endswith("## Second\n\nNot measured.\n")
    assert "quick run" in text and "quick run" not in page([], quick=False)


def test_sections_can_be_measured_again() -> None:
    first, second = Section("First", "How.", None), Section("Second", "Then.", None)
    text = page_with(
        page([first, second], quick=False),
        [Section("First", "Better.", None), Section("Third", "New.", None)],
        "Quiet.",
    )
    assert text.startswith(page([], quick=False).rstrip("\n"))
    again = "*Measured again in a run of its own. Quiet.*"
    assert text.endswith(f"\n\n## First\n\nBetter.\n\n{again}\n\n## Second\n\nThen.\n\n## Third\n\nNew.\n\n{again}\n")


def test_every_section_can_be_measured() -> None:
    assert all(callable(module.section) for module in SECTIONS.values())


def test_workers_answer(tmp_path: Path) -> None:
    bench, case = quick_bench(tmp_path), Case((2, 4, 3, 1), 1.0)
    cells = bench.polyfold(case)["cells"]
    assert [bench.baseline(case, method)["cells"] for method in ("edge_subdivision", "facet_vertex")] == [cells, cells]
    memory = run("run_memory", case.write(tmp_path), "unfold", 1)
    assert memory["cells"] == cells and memory["result"] > 0
    with pytest.raises(WorkerError, match="unfald"):
        run("run_polyfold", case.write(tmp_path), "unfald", 1, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["cell", "baseline"])
def test_explainers_answer_the_same_question(scope: str) -> None:
    pytest.importorskip("shap")
    found = run("run_shapley", scope, 3, 0.05)
    assert found is not None
    for method in ("polyfold", "exact", "kernel"):
        assert found[method]["error"] < 1e-9 and found[method]["values_a_second"] > 0


@pytest.mark.slow
def test_attributions_are_of_the_same_network() -> None:
    pytest.importorskip("shap")
    pytest.importorskip("captum")
    ours, theirs, deep = (run("run_attributions", method, 1, "-") for method in ("polyfold", "captum_500", "deep"))
    assert ours is not None and theirs is not None and deep is not None
    assert ours["largest_gap"] < 1e-9 < theirs["largest_gap"] < 0.1
    assert ours["gain"] == theirs["gain"] == deep["gain"] and deep["largest_gap"] < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("network", ["Dense", "Conv"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_local_maps_are_of_the_same_network(network: str, dtype: str) -> None:
    pytest.importorskip("torch")
    ours, theirs = (run("run_local_maps", method, network, dtype, 30, 0.01) for method in ("polyfold", "torch"))
    assert ours is not None and theirs is not None
    assert ours["sum_of_sizes"] == pytest.approx(theirs["sum_of_sizes"], rel=1e-9 if dtype == "float64" else 1e-4)
    assert ours["cpu_seconds"] > 0 and theirs["cpu_seconds"] > 0


def test_without_relucent_the_section_says_so(tmp_path: Path) -> None:
    assert "Not compared" in SECTIONS["relucent"].section(quick_bench(tmp_path)).how
    assert "Not compared" in SECTIONS["verifiers"].section(quick_bench(tmp_path)).how


def test_versions_are_measured_in_turns(tmp_path: Path) -> None:
    bench, tasks = quick_bench(tmp_path), [("count", 1), ("unfold", 2), ("certify", 1)]
    ours, again = bench.in_turns(Case((2, 4, 3, 1), 1.0), tasks, [None, sys.executable], 0.02)
    assert len({measured["cells"] for measured in (*ours, *again)}) == 1
    assert all(measured["complete"] and measured["cpu_seconds"] > 0 for measured in (*ours, *again))
    with pytest.raises(WorkerError, match="unfald"):
        bench.in_turns(Case((2, 4, 3, 1), 1.0), [("unfald", 1)], [None], 0.02)
    with pytest.raises(OutOfTimeError, match="certify"):
        bench.in_turns(Case((3, 32, 32, 1), 1.0), [("certify", 1)], [None], 1e3, limit=3)


def test_what_verifiers_read_is_the_same_network(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    layers = linear_layers(torch_default((3, 6, 5, 1)))
    same, other = (disguised(layers, differs) for differs in (False, True))
    points = np.random.default_rng(1).uniform(-1, 1, (40, 3)).astype(np.float32)

    def outputs(network: Layers) -> Any:
        write_onnx(tmp_path / "network.onnx", network)
        session = onnxruntime.InferenceSession(str(tmp_path / "network.onnx"))
        return np.array([session.run(None, {"x": point[None]})[0][0, 0] for point in points])

    assert outputs(same) == pytest.approx(outputs(layers), abs=1e-6)
    assert outputs(difference(layers, same)) == pytest.approx(np.zeros(40), abs=1e-6)
    assert outputs(difference(layers, other)) == pytest.approx(np.full(40, -1 / 64), abs=1e-6)


def test_polyfold_answers_what_verifiers_are_asked(tmp_path: Path) -> None:
    path = Case((2, 6, 5, 3), 0.5).write(tmp_path)
    extreme, constant = run("run_question", "maximum", path), run("run_question", "constant", path)
    assert extreme is not None and constant is not None
    assert extreme["lowest_seen"] < extreme["maximum"] and len(constant["behind"]) == 2
    same = run("run_question", "equivalent", path, path)
    assert same is not None and same["verdict"] == "equal"


def test_hulls_of_cells_agree(tmp_path: Path) -> None:
    found = run("run_hulls", Case((2, 8, 6, 1), 1.0).write(tmp_path), 20, 5.0, tmp_path / "cells.npz")
    assert found is not None
    assert found["volume_off"] < 1e-12 and found["qhull_volumes_off"] < 1e-6 and found["other_vertices"] == 0


def test_threads_in_the_simulation_share_all_of_the_work() -> None:
    signs = np.unique(np.random.default_rng(0).random((400, 12)) < 0.5, axis=0)
    tree = Tree.of(np.repeat(signs, 3, axis=0))
    assert tree.cells.tolist() == [3] * len(signs)
    one, *more = (Play(tree, threads, 1.0, 0.5, 0.0)() for threads in (1, 2, 8))
    assert one.now == one.busy == 3 * len(signs) + 0.5 * (len(signs) - 1) and one.tasks == 1
    for play in more:
        assert play.busy == one.busy and not play.given
        assert play.threads / 2 < one.now / play.now <= play.threads


def test_slope_is_the_exponent() -> None:
    x = np.array([1.0, 2.0, 5.0, 9.0])
    assert slope(list(x), list(3 * x**1.5)) == pytest.approx(1.5)


def test_a_busy_machine_is_told() -> None:
    assert quietness([]) == ""
    assert "busy" in quietness([0.99, 0.6, 0.5])
    assert quietness([0.99, 0.98, 0.5]) == "Calls with one thread got 98 % of a core (median), 50 % at worst."


def counted(instructions: int, cells: int = 10) -> dict[str, int]:
    return {"cells": cells, "instructions": instructions}


def test_a_rise_is_told() -> None:
    lines, small = "pf.count, 2,32,32,1 on R^2", "pf.unfold, 2,32,32,1 on R^2"
    kept, before = {lines: counted(1000), small: counted(1000)}, {lines: counted(9000), small: counted(1500)}
    assert AIMS[lines] == 1 / 3 and AIMS[small] == 1 / 2
    assert worse({lines: counted(1020), small: counted(900)}, kept, before, 0.03) == []
    assert worse({lines: counted(1040)}, kept, before, 0.03) == [f"{lines}: 1,000 instructions before, 1,040 now"]
    # An aim that was reached is kept; one that never was is aimed at.
    assert worse({lines: counted(3100), small: counted(900)}, kept, before, 9.0) == [
        f"{lines}: 34.4 % of 0.1's instructions per cell, 33.3 % are aimed at"
    ]
    assert worse({lines: counted(1000, cells=11)}, kept, before, 0.03) == [f"{lines}: 11 cells, 0.1 found 10"]


def test_kept_counts_can_be_read() -> None:
    record = json.loads(KEPT.read_text(encoding="utf-8"))
    counts, before = record["counts"], record.get("0.1", {})
    assert all(entry["instructions"] > entry["cells"] > 0 for entry in counts.values())
    assert set(counts) <= set(AIMS)
    assert all(counts[name]["cells"] == before[name]["cells"] for name in counts.keys() & before.keys())
