"""Clusters of maps: exact where there are enough, as good as scikit-learn's own where not."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import LimitError, PolyfoldError, ShapeError
from polyfold.maps import clusters as under_test
from polyfold.maps.clusters import centres_of, nearest

pytest.importorskip("sklearn")
RNG = np.random.default_rng(0)
SMALL = [(RNG.normal(size=(4, 2)), RNG.normal(size=4)), (RNG.normal(size=(3, 4)), RNG.normal(size=3))]
WIDE = [(RNG.normal(size=(12, 40)), RNG.normal(size=12)), (RNG.normal(size=(3, 12)), RNG.normal(size=3))]


def test_as_many_clusters_as_maps_are_the_network() -> None:
    maps = pf.maps.matrices(SMALL, RNG.normal(size=(500, 2)) * 3)
    k = maps.distinct_cells
    assert 5 < k < 20
    clustered = pf.maps.cluster(maps, k)
    assert (clustered.values(maps) == maps.values()).all() and clustered.inertia == (0.0,) * 3
    # Also at inputs in other cells' maps that were not clustered, the nearest centre is a real map of the network.
    elsewhere = pf.maps.matrices(SMALL, RNG.normal(size=(50, 2)))
    for j in range(3):
        known = {row.tobytes() for row in maps.of(j) + 0.0}
        assert {row.tobytes() for row in clustered.of(j)} == known
        assert clustered.assign(elsewhere).max() < len(known)


def test_one_cluster_is_the_mean_map() -> None:
    maps = pf.maps.matrices(WIDE, RNG.normal(size=(300, 40)))
    clustered = pf.maps.cluster(maps, 1)
    for j in range(3):
        np.testing.assert_allclose(clustered.of(j)[0], maps.of(j).mean(axis=0), rtol=0, atol=1e-12)
        assert clustered.inertia[j] == pytest.approx(len(maps) * maps.of(j).var(axis=0).sum())
    linear = np.column_stack([maps.X @ clustered.of(j)[0, :-1] + clustered.of(j)[0, -1] for j in range(3)])
    np.testing.assert_allclose(clustered.values(maps), linear, rtol=0, atol=1e-11)
    assert (clustered.predict(maps) == linear.argmax(axis=1)).all()
    assert clustered.score(maps, linear.argmax(axis=1)) == 1.0


@pytest.mark.parametrize("method", ["lloyd", "minibatch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_clusters_are_found(method: str, dtype: str) -> None:
    true = RNG.normal(size=(6, 30)) * 10
    of = RNG.integers(0, 6, size=600)
    rows = (true[of] + RNG.normal(size=(600, 30)) * 0.1).astype(dtype)
    centres, inertia = centres_of(rows, 6, method=method, seed=1, passes=20)
    match = nearest(true, centres)
    assert sorted(match) == list(range(6)) and np.abs(centres[match] - true).max() < 0.1
    assert (nearest(rows, centres) == match[of]).all()
    assert inertia == pytest.approx(((rows - centres[match][of]) ** 2).sum(), rel=1e-4)


def test_few_dimensions_are_made_use_of(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rows of one hidden layer are sums of its twelve rows and a constant: 13 dimensions of 41.
    maps = pf.maps.matrices(WIDE, RNG.normal(size=(400, 40)))
    rows = maps.of(0)
    directions = under_test._directions(rows)
    assert directions is not None and directions.shape == (41, 13)
    np.testing.assert_allclose(rows @ directions @ directions.T, rows, rtol=0, atol=1e-10)
    inside, inertia = centres_of(rows, 60)
    np.testing.assert_allclose(inside @ directions @ directions.T, inside, rtol=0, atol=1e-10)
    monkeypatch.setattr(under_test, "_directions", lambda rows: None)
    _, plain = centres_of(rows, 60)
    assert inertia == pytest.approx(plain, rel=0.1)


def test_nearest_is_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, centres = RNG.normal(size=(200, 7)), RNG.normal(size=(31, 7))
    expected = ((rows[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest(rows, centres) == expected).all()
    monkeypatch.setattr(under_test, "_DISTANCES", 100)
    assert (nearest(rows, centres) == expected).all()


def test_curves_fall_and_rise() -> None:
    maps = pf.maps.matrices(SMALL, RNG.normal(size=(400, 2)) * 2)
    curve = pf.maps.cluster_curve(maps, [1, 3, 100], test=maps, y=maps.predict())
    assert curve.k == (1, 3, 100) and curve.accuracy[-1] == 1.0 and curve.inertia[-1] == 0.0
    assert curve.inertia[0] > curve.inertia[1] > 0 and curve.accuracy[0] < 1.0
    # A row that is a cluster by itself counts as 0 in a silhouette; all others are in the middle of theirs.
    assert np.isnan(curve.silhouette[0]) and 0.98 < curve.silhouette[2] <= 1.0


def test_pictures_of_centres() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    maps = pf.maps.matrices(pf.load(model, input_shape=(1, 3, 4)), RNG.normal(size=(100, 1, 3, 4)))
    clustered = pf.maps.cluster(maps, 4)
    assert clustered.images(1).shape == (4, 1, 3, 4)
    assert (clustered.images(1).reshape(4, -1) == clustered.of(1)[:, :-1]).all()


def test_bad_input() -> None:
    maps = pf.maps.matrices(SMALL, RNG.normal(size=(20, 2)))
    for k in (0, 1.5, "3"):
        with pytest.raises(LimitError, match=f"k={k!r}"):
            pf.maps.cluster(maps, k)
    with pytest.raises(PolyfoldError, match="'lloyd', 'minibatch' or None, got 'elkan'"):
        pf.maps.cluster(maps, 2, method="elkan")
    with pytest.raises(LimitError, match="passes=0"):
        pf.maps.cluster(maps, 2, passes=0)
    clustered = pf.maps.cluster(maps, 2)
    with pytest.raises(PolyfoldError, match="no clusters of output 7"):
        clustered.of(7)
    with pytest.raises(ShapeError, match="do not fit clusters"):
        clustered.predict(pf.maps.matrices(WIDE, RNG.normal(size=(5, 40))))
    with pytest.raises(ShapeError, match="one label per row of X, which has 20 rows"):
        clustered.score(maps, [1, 2])
