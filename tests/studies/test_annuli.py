"""The problems of paper 001's section 4: networks learn them, and the example writes their movies."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from polyfold.errors import PolyfoldError
from studies.annuli import circle, trained, xor

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("problem", [circle, xor])
def test_classes_lie_apart(problem):
    """The nearest points of different classes leave the gap that the radii leave."""
    X, y = problem(2000)
    assert X.shape == (2000, 2) and y.sum() == 1000 and np.abs(X).max() <= 0.95
    between = np.linalg.norm(X[y == 0][:, None] - X[y == 1][None], axis=2).min()
    assert between >= 0.1 - 1e-9


def test_three_hidden_nodes_suffice():
    """As the paper says of the circle."""
    pytest.importorskip("torch")
    found = trained("circle", (3,), epochs=200, every=50, rate=0.05)
    outputs = found.recording.network(-1)(found.data)[:, 0]
    assert ((outputs > 0) == found.labels).mean() > 0.98
    assert found.recording.steps.tolist() == [0, 50, 100, 150, 200]


def test_no_such_problem():
    with pytest.raises(PolyfoldError, match="there is no problem 'spiral': use one of circle, xor"):
        trained("spiral", (3,))


@pytest.mark.slow
def test_the_movies_of_the_paper(tmp_path, capsys):
    pytest.importorskip("torch")
    example = runpy.run_path(str(ROOT / "examples" / "training_movies.py"))
    example["main"](["--out", str(tmp_path), "--frames", "12"])
    said = capsys.readouterr().out
    for name, one in example["EXAMPLES"].items():
        assert all((tmp_path / f"{name}.{kind}").stat().st_size > 1000 for kind in example["KINDS"])
        assert (tmp_path / f"{name}_folds.png").exists() == (len(one.hidden) > 1)
        assert f"{name}.html: 12 frames" in said
    accuracies = [float(line.split("accuracy ")[1].split(" ")[0]) for line in said.splitlines() if "accuracy" in line]
    assert len(accuracies) == 9 and min(accuracies) > 95
    # All frames of the largest one.
    example["main"](["--out", str(tmp_path), "--only", "xor_8_8_8", "--kinds", "html"])
    assert (tmp_path / "xor_8_8_8.html").stat().st_size < 3_000_000
