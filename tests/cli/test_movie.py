"""polyfold movie: what it writes and prints, and one line for whatever is wrong."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf

pytest.importorskip("matplotlib")


@pytest.fixture
def run(run):
    """Runs `polyfold movie ARGUMENTS`."""
    return partial(run, "movie")


@pytest.fixture
def kept(tmp_path) -> Path:
    """A saved recording of three snapshots."""
    rng = np.random.default_rng(1)
    layers = [(rng.normal(size=(4, 2)), rng.normal(size=4)), (rng.normal(size=(1, 4)), np.zeros(1))]
    path = tmp_path / "kept.recording"
    with pf.training.record(layers, path) as recorder:
        for _ in range(2):
            layers[0][1][:] += 0.1
            recorder.step()
    return path


def test_it_writes_a_player_and_says_so(run, kept, tmp_path):
    data, labels, out = tmp_path / "x.csv", tmp_path / "y.csv", tmp_path / "a.html"
    data.write_text("x,y\n0.5,0.5\n-0.5,0.25\n")
    labels.write_text("label\n1\n0\n")
    code, said, err = run(kept, "--out", out, "--box", -1, 1, "--data", data, "--labels", labels)
    assert (code, err) == (0, "")
    network = pf.training.open(kept).network(2)
    right = 100 * ((network(np.array([[0.5, 0.5], [-0.5, 0.25]]))[:, 0] > 0) == [1, 0]).mean()
    assert f"3 frames: {len(pf.unfold(pf.training.open(kept).network(0), pf.box(-1, 1)))} cells at step 0" in said
    assert f"{right:.1f} %" in said and "a.html" in said
    assert "<!doctype html>" in out.read_text(encoding="utf-8")


def test_json(run, kept, tmp_path):
    out = tmp_path / "a.gif"
    code, said, err = run(kept, "--out", out, "--box", -1, 1, "--frames", 2, "--size", 120, "--json")
    assert (code, err) == (0, "") and said.count("\n") == 1
    facts = json.loads(said)
    assert facts["steps"] == [0, 2] and facts["frames"] == 2 and facts["accuracy"] is None
    counts = pf.training.cell_counts(pf.training.open(kept), pf.box(-1, 1), snapshots=[0, 2])
    assert facts["cells"] == counts.value.tolist()
    assert out.read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["missing.recording", "--out", "a.html", "--box", "-1", "1"], "missing.recording"),
        (["x.csv", "--out", "a.html", "--box", "-1", "1"], "x.csv"),
        ([".", "--out", "a.html", "--box", "-1", "1"], "is a folder"),
        (["kept.recording", "--out", "a.avi", "--box", "-1", "1"], "must end in .mp4 or .gif or .html"),
        (["kept.recording", "--out", "no/a.gif", "--box", "-1", "1"], "there is no folder"),
        (["kept.recording", "--out", "a.html"], "needs a bounded domain"),
        (["kept.recording", "--out", "a.html", "--box", "1", "-1"], "empty"),
        (["kept.recording", "--out", "a.html", "--box", "-1", "1", "--output", "7"], "there is no output 7"),
        (["kept.recording", "--out", "a.html", "--box", "-1", "1", "--colour", "red"], "got 'red'"),
        (["kept.recording", "--out", "a.html", "--box", "-1", "1", "--frames", "0"], "frames=0"),
        (["kept.recording", "--out", "a.html", "--box", "-1", "1", "--labels", "x.csv"], "give --data"),
        (["kept.recording", "--out", "a.html", "--data", "x.csv", "--labels", "words.csv"], "y[0] is 'up'"),
    ],
)
def test_bad_input(run, kept, tmp_path, monkeypatch, arguments, match):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("0.5,0.5\n0.25,0.0\n")
    (tmp_path / "words.csv").write_text("up\ndown\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = run(*arguments)
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1 and err.startswith("error: ") and match in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before
