"""Small boxes in many dimensions: all cells, by another way of finding them, and the proof that they are all."""

from __future__ import annotations

import gzip
import logging
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from helpers.box_oracle import BoxOracle
from helpers.shared_files import MNIST, MODELS
from polyfold.domain.domain import Domain, written_out
from polyfold.domain.points import contains
from polyfold.engine.proof.box_proof import box_proof

# The fields of a domain behind its input rows.
LATER = ("input_offsets", "parameter_rows", "parameter_offsets")

Layers = list[tuple[np.ndarray, np.ndarray]]


def layers_of(widths: tuple[int, ...], seed: int) -> Layers:
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(m, n)) / np.sqrt(n), rng.normal(size=m) / 4) for n, m in pairwise(widths)]


def compared(network: pf.Network | Layers, layers: Layers, x: np.ndarray, radius: float) -> pf.Atlas:
    """The atlas on a box around a point, looked at from all sides."""
    low, high = x - radius, x + radius
    box = pf.box(low, high)
    atlas = pf.unfold(network, box)
    found = {tuple(row) for row in atlas.signs().tolist()}
    assert found == BoxOracle(layers, low, high).patterns()
    assert len(found) == len(atlas) == pf.count(network, box).cells
    assert atlas.certificate.level == "checked"
    assert pf.certify(atlas).level == "certified"
    return atlas


@pytest.mark.parametrize(
    ("widths", "radius"),
    [((20, 12, 1), 0.1), ((20, 8, 6, 1), 0.1), ((30, 14, 1), 0.06), ((30, 9, 7, 2), 0.08), ((60, 12, 10, 2), 0.04)],
)
def test_all_cells_by_brute_force(widths: tuple[int, ...], radius: float) -> None:
    layers = layers_of(widths, 0)
    x = np.random.default_rng(0).normal(size=widths[0]) / 2
    atlas = compared(layers, layers, x, radius)
    assert len(atlas) > 4
    explored = pf.explore(layers, x, pf.box(x - radius, x + radius), max_cells=2)
    assert {row.tobytes() for row in explored.patterns} <= {row.tobytes() for row in atlas.patterns}


def proved(atlas: pf.Atlas, cell: int) -> bool:
    proof = box_proof(atlas)
    assert proof is not None
    return proof.proves(cell)


def test_floats_do_not_prove_what_is_forged() -> None:
    atlas = pf.unfold(layers_of((40, 10, 6, 1), 1), pf.box(-0.03, 0.03))
    assert len(atlas) > 4 and all(proved(atlas, cell) for cell in range(len(atlas)))
    gates = atlas.gates
    inner = next(f for f in atlas.facets(0) if atlas.facet_wall[f] < gates)
    outer = next(f for f in atlas.facets(0) if atlas.facet_wall[f] >= gates)
    other = next(g for g in range(gates) if g not in {w for f in atlas.facets(0) for w in atlas.walls(f)})
    walls, neighbours, inside = (np.array(atlas.facet_wall), np.array(atlas.neighbour), np.array(atlas.neighbour))
    walls[inner] = other
    neighbours[inner] = next(k for k in range(1, len(atlas)) if k != neighbours[inner])
    inside[outer] = neighbours[inner]
    witnesses = np.array(atlas.witnesses)
    witnesses[0] = witnesses[1]
    changes: list[dict[str, np.ndarray]] = [
        {"facet_wall": walls},
        {"neighbour": neighbours},
        {"neighbour": inside},
        {"witnesses": witnesses},
        {"bounded": ~np.array(atlas.bounded)},
    ]
    start = np.array(atlas.facet_start)
    start[1:] -= 1
    for facet in (inner, outer):  # one less: all that comes behind it moves up
        fewer = {name: np.delete(getattr(atlas, name), facet) for name in ("facet_wall", "neighbour")}
        changes.append({**fewer, "facet_start": start})
    more = {"facet_wall": np.insert(atlas.facet_wall, 0, other), "neighbour": np.insert(atlas.neighbour, 0, 1)}
    changes.append({**more, "facet_start": np.array(atlas.facet_start) + (np.arange(len(atlas) + 1) > 0)})
    for change in changes:
        assert not proved(replace(atlas, **change), 0), change.keys()


def test_a_gate_that_vanishes_on_one_side_only_is_left_to_exact_arithmetic() -> None:
    """relu(relu(x0)) is zero where x0 is negative, and on behind the wall."""
    first = np.zeros((1, 16))
    first[0, 0] = 1.0
    zero = np.zeros(1)
    twice = pf.unfold([(first, zero), (np.ones((1, 1)), zero), (np.ones((1, 1)), zero)], pf.box(-1, 1))
    assert len(twice) == 2 and not proved(twice, 0) and not proved(twice, 1)
    dead = pf.unfold([(np.vstack([first, 0 * first]), np.zeros(2)), (np.ones((1, 2)), zero)], pf.box(-1, 1))
    assert len(dead) == 2 and proved(dead, 0) and proved(dead, 1)


def test_thin_cells_and_sides_without_a_facet() -> None:
    """A wall that cuts off a corner: the small part has few sides of the box, the other one all of them."""
    corner = [(np.vstack([np.ones(20), np.eye(20)[0]]), np.array([-19.5, 0.0])), (np.ones((1, 2)), np.zeros(1))]
    atlas = pf.unfold(corner, pf.box(-1, 1))
    assert len(atlas) == 3
    assert pf.certify(atlas).level == "certified"
    assert sorted(np.diff(atlas.facet_start).tolist()) == [21, 40, 41]


def test_a_run_without_a_cell_says_why(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyfold.engine.none_yet._PATIENCE", 0.2)
    layers = layers_of((784, 300, 300, 1), 0)
    with caplog.at_level(logging.WARNING, "polyfold"):
        count = pf.count(layers, pf.box(-1, 1), max_seconds=1, threads=1)
    assert count.cells == 1 and not count.complete and "at least 1 cell" in repr(count)
    assert count.certificate.checks[0].passed and count.certificate.none_found
    (said,) = [record.getMessage() for record in caplog.records]
    assert "of 600 gates may switch" in said
    assert all(word in said for word in ("pf.local", "pf.plane", "pf.explore"))
    atlas = pf.unfold(layers, pf.box(-1, 1), max_seconds=1, threads=1)
    assert "none yet of at least 1 cell" in repr(atlas)
    small = pf.count(layers_of((3, 4, 1), 0), pf.box(-1, 1))
    assert "at least" not in repr(small) and not small.certificate.none_found


def pictures(count: int) -> np.ndarray:
    raw = gzip.decompress((MNIST / "t10k-images-idx3-ubyte.gz").read_bytes())
    return np.frombuffer(raw[16 : 16 + 784 * count], dtype=np.uint8).reshape(count, 784) / 255.0


@pytest.mark.slow
@pytest.mark.shared("models", "mnist")
def test_around_pictures() -> None:
    """Ten neurons twice on 784 pixels: complete, certified, and the same as by brute force."""
    network = pf.load(str(MODELS / "marabou_mnist2x10.onnx"))
    assert pf.count(network).cells == 245_239
    program = pf.unfold(network, max_cells=1).program
    layers = [(affine.blocks[0].weight, affine.bias) for affine in program.affines]
    for x in pictures(20):
        atlas = compared(network, layers, x, 0.005)
        agreed(atlas, x, explored=len(atlas) < 3)


def agreed(atlas: pf.Atlas, x: np.ndarray, explored: bool) -> None:
    """Every question about a box around a point has the cells of the atlas."""
    source, domain = atlas.program, atlas.domain
    assert pf.count(source, domain).cells == len(atlas)
    regions = pf.regions(atlas)
    assert len(pf.regions(source, domain)) == len(regions)
    found = pf.stats.classes(atlas)
    # One class wins on each part, which the network says at the part's witness; parts are cells of one more network.
    outputs, _ = source.evaluate(found.atlas.witnesses)
    assert (outputs.argmax(axis=1) == found.label).all()
    assert set(found.cell.tolist()) == set(range(len(atlas)))
    assert pf.count(found.atlas.program, domain).cells == len(found.atlas)
    if explored:
        around = pf.explore(source, x, domain)
        assert around.complete
        assert {row.tobytes() for row in around.patterns} == {row.tobytes() for row in atlas.patterns}
        assert len(pf.regions(around)) == len(regions)


def test_all_questions_agree() -> None:
    layers = layers_of((20, 8, 6, 3), 0)
    x = np.random.default_rng(0).normal(size=20) / 2
    agreed(pf.unfold(layers, pf.box(x - 0.1, x + 0.1)), x, explored=True)


def test_a_thin_cell_of_many_inputs() -> None:
    """A wall cuts off a corner. Two sides are met, or missed, by so little that floats are in doubt: integers tell."""
    rng = np.random.default_rng(0)
    x, row, radius = 30 * rng.random(300), rng.normal(size=300), 1e-6
    row[:2] = 0.12, 0.12 * (1 - 1e-2)
    # What is left of the wall's form if all other coordinates stay in the corner.
    rest = 2 * radius * 0.12 * (1 - 5e-3)
    layers = [
        (row[None], np.array([rest - float(row @ x) - radius * np.abs(row).sum()])),
        (np.ones((1, 1)), np.zeros(1)),
    ]
    low, high = x - radius, x + radius
    atlas = pf.unfold(layers, pf.box(low, high))
    assert len(atlas) == 2 == pf.count(layers, pf.box(low, high)).cells
    assert pf.certify(atlas).level == "certified"
    weights = [Fraction(w) for w in row]
    ends = [[Fraction(u) for u in end.tolist()] for end in (low, high)]
    left = Fraction(float(layers[0][1][0])) + sum(w * ends[int(w > 0)][k] for k, w in enumerate(weights))
    met = {2 * k + int(w > 0) for k, w in enumerate(weights)}
    met |= {2 * k + int(w < 0) for k, w in enumerate(weights) if abs(w) * (ends[1][k] - ends[0][k]) < left}
    assert 0 not in met and 2 in met
    on = int(atlas.signs()[:, 0].argmax())
    walls = atlas.facet_wall[atlas.facets(on)]
    rows = walls[walls >= atlas.gates] - atlas.gates
    assert set(np.where(rows < 300, 2 * rows, 2 * (rows - 300) + 1).tolist()) == met


def test_the_sides_of_a_box_take_no_memory() -> None:
    """They are a view of a vector, with the digest, and the cells, of the same rows in a matrix."""
    box = pf.box(-1, 1).resolve(64)
    matrix = Domain(box.origin, box.basis, written_out(box.input_rows), *(getattr(box, n) for n in LATER))
    assert box.input_rows.base is not None and np.array_equal(box.input_rows, matrix.input_rows)
    assert box.digest == matrix.digest == Domain.from_json(box.to_json()).digest
    points = np.random.default_rng(0).normal(size=(50, 64)) / 3
    points[0] = 0.0
    assert (contains(box, points) == contains(matrix, points)).all() and contains(box, points)[0]
    layers = layers_of((64, 4, 1), 0)
    one, other = (pf.unfold(layers, where) for where in (box, matrix))
    assert one.arrays_digest == other.arrays_digest
