"""Cells of the function, with pools as switches of k ways, against the winners at points of all cells of gates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

import polyfold as pf
from polyfold.datasets.convolutional import mnist_conv
from polyfold.errors import LimitError, PolyfoldError
from polyfold.network.graph import Network
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.switches import Largest, Rectify
from polyfold.network.read.builder import Builder

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pooled:
    """A network of layers, rectifiers and pools, and who wins in it: by NumPy alone."""

    network: Network
    steps: tuple[object, ...]

    def decided(self, X: Floats) -> npt.NDArray[np.int64]:
        """The state of every rectifier and the winner of every pool at rows of inputs."""
        found, h = [], X
        for op in self.steps:
            if isinstance(op, Linear):
                h = h @ op.weight.T + op.bias
            elif isinstance(op, Rectify):
                found.append(h > 0)
                h = np.maximum(h, 0)
            else:
                assert isinstance(op, Largest)
                members = np.where(op.members >= 0, h[:, np.maximum(op.members, 0)], -np.inf)
                found.append(members.argmax(axis=2))
                h = members.max(axis=2)
        return np.concatenate([each.astype(np.int64) for each in found], axis=1)


def pooled(seed: int) -> Pooled:
    """Numbers of few bits, so that nothing is rounded. Odd seeds are degenerate: small whole numbers, members twice."""
    rng = np.random.default_rng(seed)
    builder, steps, width, count = Builder("pooled"), [], 2, int(rng.integers(4, 9))
    value = builder.port("x", (2,))

    def numbers(*shape: int) -> Floats:
        return rng.integers(-2, 3, size=shape).astype(float) if seed % 2 else np.round(16 * rng.normal(size=shape)) / 16

    for _ in range(int(rng.integers(1, 3))):
        most = min(count, int(rng.integers(2, 6)))
        members = np.array([rng.choice(count, most, replace=bool(seed % 2)), rng.permutation(count)[:most]])
        if members.shape[1] > 2 and rng.random() < 0.5:
            members[0, int(rng.integers(1, members.shape[1]))] = -1
        ops: list[object] = [Linear(numbers(count, width), numbers(count)), Largest(members)]
        width = len(members)
        for place in (2, 1):
            if rng.random() < 0.5:
                ops.insert(place, Rectify(np.array(1.0), np.array(0.0)))
        for op in ops:
            value = builder.emit(type(op).__name__, op, value)
        steps += ops
    value = builder.emit("last", Linear(numbers(2, width), np.zeros(2)), value)
    return Pooled(builder.finish([value]), tuple(steps))


def place(seed: int) -> pf.domain.Domain:
    return pf.line([-3, -2.0], [3, 2.5]) if seed % 3 == 0 else pf.box(-3, 3)


def check_cells(seed: int) -> None:
    case, domain = pooled(seed), place(seed)
    gates = pf.unfold(case.network, domain)
    atlas = pf.unfold(case.network, domain, cells="function")
    inside = gates.lift(gates.witnesses)
    decided, cell = np.unique(case.decided(inside), axis=0, return_inverse=True)
    assert len(atlas) == len(decided) == pf.count(case.network, domain, cells="function").cells
    assert atlas.certificate.level == "checked", atlas.certificate.failed_checks
    looked = pf.check(atlas)
    assert looked.level == "checked", looked.failed_checks
    # Every cell is made of the gates' cells with these winners, and of no others.
    at = atlas.locate(gates.witnesses)
    assert len(set(zip(at.tolist(), cell.ravel().tolist(), strict=True))) == len(atlas)
    assert np.allclose(np.bincount(at, gates.volumes()), atlas.volumes())
    A, c = atlas.maps(at)
    assert np.allclose(np.einsum("nij,nj->ni", A, inside) + c, case.network(inside))
    assert len(pf.regions(atlas)) == len(pf.regions(gates))


@pytest.mark.parametrize("seed", range(24))
def test_as_many_cells_as_winners(seed: int) -> None:
    check_cells(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24, 240))
def test_as_many_cells_as_winners_in_many_networks(seed: int) -> None:
    check_cells(seed)


def three_members() -> Network:
    """max(x, y, 0) of the plane."""
    builder = Builder("three")
    value = builder.port("x", (2,))
    value = builder.emit("layer", Linear(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.zeros(3)), value)
    return builder.finish([builder.emit("pool", Largest(np.array([[0, 1, 2]])), value)])


def test_the_losers_cut_no_cell() -> None:
    network, box = three_members(), pf.box(-1, 1)
    assert pf.count(network, box).cells == 4
    atlas = pf.unfold(network, box, cells="function")
    assert len(atlas) == 3 and np.allclose(sorted(atlas.volumes()), [1, 1.5, 1.5])
    assert atlas.f_vector() == (7, 9, 3) and "of the function" in repr(atlas)
    # Where all three tie the first one wins; on the walls of the last one, the first cell that touches the point.
    maps = [
        atlas.maps([cell])[0][0, 0].tolist() for cell in atlas.locate([[0, 0], [0.5, 0.5], [-0.5, 0], [-0.5, -0.2]])
    ]
    assert maps == [[1, 0], [1, 0], [0, 1], [0, 0]]


def test_a_pool_of_equal_members_has_one_winner() -> None:
    builder = Builder("equal")
    value = builder.port("x", (2,))
    value = builder.emit("layer", Linear(np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]]), np.zeros(4)), value)
    network = builder.finish([builder.emit("pool", Largest(np.array([[0, 1, 2, 3]])), value)])
    assert pf.count(network, pf.box(-1, 1), cells="function").cells == 2


def test_parts_fit_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells do not depend on how many are worked on at once."""
    case = pooled(8)
    whole = pf.unfold(case.network, pf.box(-3, 3), cells="function")
    monkeypatch.setattr("polyfold.engine.slices.run._BATCH_FLOATS", 256)
    parts = pf.unfold(case.network, pf.box(-3, 3), cells="function")
    assert parts.certificate.level == "checked"
    assert (parts.patterns == whole.patterns).all() and (parts.facet_wall == whole.facet_wall).all()


def test_two_members_make_no_difference() -> None:
    relu = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    atlas = pf.unfold(relu, cells="function")
    assert atlas.cells_of == "gates" and len(atlas) == 4


def test_what_cannot_be_had_is_refused_by_name(tmp_path) -> None:
    network, box = three_members(), pf.box(-1, 1)
    atlas = pf.unfold(network, box, cells="function")
    for refused in (pf.certify, pf.topology.faces, pf.stats.facets):
        with pytest.raises(PolyfoldError, match="cells='gates'"):
            refused(atlas)
    with pytest.raises(PolyfoldError, match="minimal=True"):
        atlas.halfspaces(minimal=False)
    with pytest.raises(PolyfoldError, match="'gates' or 'function'"):
        pf.count(network, box, cells="pools")  # type: ignore[arg-type]
    with pytest.raises(LimitError, match="unbounded"):
        pf.unfold(network, cells="function")
    builder = Builder("deep")
    value = builder.port("x", (3,))
    wide = builder.finish([builder.emit("pool", Largest(np.array([[0, 1, 2]])), value)])
    with pytest.raises(LimitError, match="lines and planes"):
        pf.unfold(wide, pf.box(-1, 1), cells="function")


def test_saved_and_opened(tmp_path) -> None:
    pytest.importorskip("pyarrow")
    atlas = pf.unfold(three_members(), pf.box(-1, 1), cells="function")
    atlas.save(tmp_path / "atlas.parquet")
    again = pf.open(tmp_path / "atlas.parquet")
    assert again.cells_of == "function" and again.arrays_digest == atlas.arrays_digest
    assert again.certificate.level == "checked"
    assert (again.volumes() == atlas.volumes()).all()


def test_a_plane_through_a_convolutional_network() -> None:
    one, other, third = np.random.default_rng(0).random(size=(3, 28, 28))
    plane = pf.plane(one, other - one, third - one, pf.box(0, 0.01))
    gates, atlas = pf.unfold(mnist_conv(), plane), pf.unfold(mnist_conv(), plane, cells="function")
    assert atlas.certificate.level == "checked"
    pools = atlas.program.pools
    expected = np.unique(pools.with_idle_off(gates.signs()), axis=0)
    assert (len(gates), len(atlas), len(expected)) == (377, 151, 151)
    assert len(pf.regions(gates)) == len(pf.regions(atlas))


def test_unfinished_cells_are_kept() -> None:
    case = pooled(8)
    some = pf.unfold(case.network, pf.box(-3, 3), cells="function", max_cells=3)
    assert len(some) == 3 and not some.complete
    assert some.maps()[0].shape == (3, 2, 2)
