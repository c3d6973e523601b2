"""The studies of paper 003 with tiny settings: what they count is counted again by other means."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest

import polyfold as pf
from studies import diameters, face_counts
from studies.small_networks import along_training, random_network

ROOT = Path(__file__).parents[2]


def test_diameters_are_those_of_networkx_and_below_the_bound() -> None:
    for row in diameters.diameters(diameters.QUICK):
        found = []
        for seed in range(diameters.QUICK.seeds):
            atlas = pf.unfold(random_network((row.dim, *[row.width] * row.depth, 1), seed))
            inner = np.flatnonzero(atlas.neighbour >= 0)
            graph = networkx.Graph(zip(atlas.facet_owner[inner].tolist(), atlas.neighbour[inner].tolist(), strict=True))
            found.append(networkx.diameter(graph))
        assert (row.diameter, row.mean_diameter) == (max(found), sum(found) / len(found))
        assert row.diameter <= row.bound == (row.width + 1) ** row.depth - 1
        # In an arrangement two opposite cells are on different sides of every wall.
        assert row.depth > 1 or row.diameter == row.width


def test_face_counts_are_those_of_halfspaces() -> None:
    settings = face_counts.QUICK
    for row in face_counts.over_architectures(settings):
        counts = np.concatenate(
            [
                np.diff(pf.unfold(random_network((row.dim, *row.hidden, 1), seed)).halfspaces().start)
                for seed in range(settings.seeds)
            ]
        )
        assert row.cells == len(counts) and row.mean == pytest.approx(counts.mean())
        assert row.shares == pytest.approx([(counts == k).mean() for k in range(counts.max() + 1)])
        assert row.mean <= row.largest_mean <= 2 * row.dim


def test_training_starts_at_the_random_network_and_learns() -> None:
    widths = (2, 6, 6, 1)
    steps = dict(along_training(widths, 1, (0, 20, 400)))
    for (W, b), (V, c) in zip(steps[0], random_network(widths, 1), strict=True):
        assert (W == V).all() and (b == c).all()
    X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    # The data's median radius; points near it are too close to tell.
    radius = np.linalg.norm(X, axis=1)
    clear = np.abs(radius - 0.8) > 0.15

    def right(layers: object) -> float:
        inside = pf.load(layers)(X)[:, 0] > 0
        return float((inside == (radius < 0.8))[clear].mean())

    assert right(steps[0]) < 0.8 < 0.93 < right(steps[400])


def test_every_run_trains_the_same() -> None:
    once, again = (dict(along_training((2, 4, 1), 0, (30,)))[30] for _ in range(2))
    for (W, b), (V, c) in zip(once, again, strict=True):
        assert (W == V).all() and (b == c).all()


def points_in(path: Path) -> int:
    """How many points the series of a chart have, dashed ones left out."""
    groups = ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}g")
    return sum(len(group.findall(".//{*}use")) for group in groups if group.get("id", "").startswith("series"))


def test_commands_print_draw_and_refuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    diameters.main(["--quick", "--figure", str(tmp_path / "diameters.svg")])
    assert "diameter" in capsys.readouterr().out
    face_counts.main(
        ["--quick", "--figure", str(tmp_path / "a.svg"), "--training-figure", str(tmp_path / "b.svg"), "--json"]
    )
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["architectures"]) == 4 and len(printed["training"]) == 6
    circles = [points_in(tmp_path / name) for name in ("diameters.svg", "a.svg", "b.svg")]
    shares = sum(share > 0 for row in printed["architectures"] for share in row["shares"])
    assert circles == [len(diameters.diameters(diameters.QUICK)), shares, len(printed["training"])]
    with pytest.raises(SystemExit) as ended:
        diameters.main(["--quick", "--figure", str(tmp_path / "nowhere" / "a.svg")])
    assert ended.value.code == 2 and "cannot write to" in capsys.readouterr().err
    diameters.main(["--quick", "--json"])
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 8


def test_the_documents_show_pictures_of_the_full_studies() -> None:
    text = (ROOT / "docs" / "paper_003.md").read_text(encoding="utf-8")
    for name in re.findall(r"\(images/([^)]+)\)", text):
        assert points_in(ROOT / "docs" / "images" / name) > 20
    assert len(re.findall(r"\(images/", text)) == 3
