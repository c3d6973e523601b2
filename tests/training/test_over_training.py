"""What a recording says of a training: cases with known answers, and other ways to the same numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf


def recorded(*networks):
    """A recording whose snapshots are these layers."""
    layers = [tuple(np.array(part, dtype=float) for part in pair) for pair in networks[0]]
    recorder = pf.training.record(layers)
    for network in networks[1:]:
        for pair, new in zip(layers, network, strict=True):
            for part, numbers in zip(pair, new, strict=True):
                part[...] = numbers
        recorder.step()
    return recorder.recording


def random_layers(widths, seed):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


def near(layers, seed, size):
    rng = np.random.default_rng(seed)
    return [tuple(part + size * rng.normal(size=part.shape) for part in pair) for pair in layers]


def diamond(radius):
    """radius - |x| - |y|"""
    return [
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], np.zeros(4)),
        (-np.ones((1, 4)), [radius]),
    ]


def test_a_line_that_turns():
    moved = pf.training.boundary_movement(recorded([([[1.0, 0.0]], [0.0])], [([[1.0, 1.0]], [0.0])]), pf.box(-1, 1))
    assert moved.length.tolist() == pytest.approx([2.0, 2 * np.sqrt(2)])
    assert moved.flows[0] == pytest.approx(np.array([[1.5, 0.5], [0.5, 1.5]]))
    assert moved.changed == pytest.approx([1.0])
    assert moved.shift == pytest.approx([1.0 / (1 + np.sqrt(2))])


def test_a_diamond_that_grows():
    radii = [0.25, 0.5, 1.0, 0.75]
    moved = pf.training.boundary_movement(recorded(*map(diamond, radii)), pf.box(-1, 1))
    assert moved.areas[:, 1] == pytest.approx([2 * r * r for r in radii])
    assert moved.length == pytest.approx([4 * np.sqrt(2) * r for r in radii])
    assert moved.changed == pytest.approx([2 * abs(a * a - b * b) for a, b in pairwise(radii)])
    # Two parallel sides are (a - b) / sqrt 2 apart.
    assert moved.shift == pytest.approx([abs(a - b) / np.sqrt(2) for a, b in pairwise(radii)])
    assert moved.flows[0, 1, 0] == moved.flows[1, 1, 0] == moved.flows[2, 0, 1] == 0.0
    only = pf.training.boundary_movement(recorded(*map(diamond, radii)), pf.box(-1, 1), snapshots=[0, -1])
    assert only.changed == pytest.approx([2 * (0.75**2 - 0.25**2)]) and only.steps.tolist() == [0, 3]


@pytest.mark.parametrize("dim", [1, 3])
def test_a_plane_that_is_shifted(dim):
    normal = np.zeros((1, dim))
    normal[0, 0] = 2.0
    moved = pf.training.boundary_movement(recorded([(normal, [0.0])], [(normal, [-0.5])]), pf.box(-1, 1))
    face = 2.0 ** (dim - 1)
    assert moved.length == pytest.approx([face, face])
    assert moved.changed == pytest.approx([0.25 * face]) and moved.shift == pytest.approx([0.25])


@pytest.mark.parametrize("outputs", [1, 2, 3, 4])
def test_flows_against_samples_and_areas(outputs):
    first = random_layers([2, 6, 5, outputs], outputs)
    networks = [first, near(first, 1, 0.2), near(first, 2, 0.4)]
    recording = recorded(*networks)
    X = np.random.default_rng(0).uniform(-1, 1, size=(200_000, 2))
    threshold = float(np.median(recording.network(0)(X))) if outputs == 1 else 0.0
    moved = pf.training.boundary_movement(recording, pf.box(-1, 1), threshold=threshold)
    labels = []
    for i in range(3):
        found = pf.stats.classes(pf.unfold(recording.network(i), pf.box(-1, 1)), threshold=threshold)
        assert moved.areas[i] == pytest.approx(pf.stats.class_areas(found).areas, abs=1e-12)
        assert moved.length[i] == pytest.approx(pf.stats.decision_boundary(found).measures.sum())
        y = recording.network(i)(X)
        labels.append((y[:, 0] > threshold).astype(int) if outputs == 1 else y.argmax(axis=1))
    for i in range(2):
        assert moved.flows[i].sum(axis=1) == pytest.approx(moved.areas[i], abs=1e-12)
        assert moved.flows[i].sum(axis=0) == pytest.approx(moved.areas[i + 1], abs=1e-12)
        seen = np.zeros_like(moved.flows[i])
        np.add.at(seen, (labels[i], labels[i + 1]), 4 / len(X))
        assert np.abs(seen - moved.flows[i]).max() < 0.03  # six standard deviations
    assert (moved.changed > 0).all()
    assert moved.to_pandas()["changed"].tolist()[1:] == moved.changed.tolist()


def test_on_a_plane_through_more_inputs():
    layers = random_layers([10, 12, 8, 3], 0)
    recording = recorded(layers, near(layers, 1, 0.1))
    origin, *ends = np.random.default_rng(0).normal(size=(3, 10))
    where = pf.plane(origin, *ends)
    moved = pf.training.boundary_movement(recording, where)
    for i in range(2):
        areas = pf.stats.class_areas(pf.unfold(recording.network(i), where)).areas
        assert moved.areas[i] == pytest.approx(areas) and moved.flows[0].sum(axis=1 - i) == pytest.approx(areas)


def test_no_boundary_has_no_shift():
    moved = pf.training.boundary_movement(recorded([([[1.0]], [5.0])], [([[1.0]], [6.0])]), pf.box(-1, 1))
    assert moved.changed.tolist() == [0.0] and np.isnan(moved.shift).all() and moved.length.tolist() == [0.0, 0.0]


def test_a_network_that_stays_does_not_move():
    layers = random_layers([2, 8, 3], 0)
    moved = pf.training.boundary_movement(recorded(layers, layers), pf.box(-1, 1))
    assert moved.changed.tolist() == [0.0] and moved.shift.tolist() == [0.0]


def test_cell_counts_are_those_of_atlases():
    layers = random_layers([2, 7, 6, 1], 3)
    recording = recorded(layers, near(layers, 1, 0.5), near(layers, 2, 0.5))
    expected = [len(pf.unfold(network, pf.box(-2, 2))) for network in recording]
    assert pf.training.cell_counts(recording, pf.box(-2, 2)).value.tolist() == expected
    some = pf.training.cell_counts(recording, pf.box(-2, 2), snapshots=[2, 0])
    assert some.value.tolist() == [expected[2], expected[0]] and some.snapshots.tolist() == [2, 0]
    assert some.to_pandas()["cells"].tolist() == some.value.tolist() and np.asarray(some).dtype == np.int64


def test_drift_against_autograd():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).double()
    X = torch.randn(20, 3, dtype=torch.float64)
    recorder = pf.training.record(model)
    maps, signs = [], []

    def look() -> None:
        jacobian = torch.func.vmap(torch.func.jacrev(model))(X)
        constant = model(X) - torch.einsum("nij,nj->ni", jacobian, X)
        maps.append(torch.cat([jacobian.flatten(1), constant], 1).detach().numpy())
        signs.append((model[0](X) > 0).numpy())

    look()
    optimizer = torch.optim.SGD(model.parameters(), 0.5)
    for _ in range(3):
        optimizer.zero_grad()
        (model(X) - 1).square().mean().backward()
        optimizer.step()
        recorder.step()
        look()
    drift = pf.training.map_drift(recorder.recording, X.numpy())
    assert drift.norm == pytest.approx(np.linalg.norm(maps, axis=2), rel=1e-9)
    assert drift.distance == pytest.approx(np.linalg.norm(np.diff(maps, axis=0), axis=2), rel=1e-9)
    assert drift.switched.tolist() == [(a != b).sum(axis=1).tolist() for a, b in pairwise(signs)]
    assert drift.switched.any() and not drift.undecided.any()
    mean = (drift.norm[:-1] + drift.norm[1:]) / 2
    assert drift.relative == pytest.approx(drift.distance / mean)
    assert drift.to_pandas()["distance"].tolist()[1:] == drift.distance.mean(axis=1).tolist()


def test_maps_that_are_zero_have_no_relative_drift():
    zero = [(np.zeros((1, 2)), [0.0])]
    drift = pf.training.map_drift(recorded(zero, zero), [[1.0, 1.0]])
    assert drift.relative.tolist() == [[0.0]]


def test_questions_that_have_no_answer():
    recording = recorded(diamond(0.25), diamond(0.5))
    with pytest.raises(pf.PolyfoldError, match="needs a bounded domain"):
        pf.training.boundary_movement(recording, None)
    with pytest.raises(pf.PolyfoldError, match=r"from one snapshot to a later one, and these are \[1, 0\]"):
        pf.training.boundary_movement(recording, pf.box(-1, 1), snapshots=[1, 0])
    with pytest.raises(pf.PolyfoldError, match="these are"):
        pf.training.map_drift(recording, [[0.0, 0.0]], snapshots=[0])
    with pytest.raises(pf.PolyfoldError, match="asked of a recording, not of 'run'"):
        pf.training.cell_counts("run")
    with pytest.raises(pf.PolyfoldError, match="snapshots=3 must be a list"):
        pf.training.cell_counts(recording, snapshots=3)
    with pytest.raises(pf.PolyfoldError, match="max_cells stopped the search"):
        pf.training.boundary_movement(recording, pf.box(-1, 1), max_cells=2)
