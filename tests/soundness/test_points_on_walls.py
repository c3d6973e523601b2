"""Everything that asks for the cell of a point gives the same one where the point lies on walls.

That is the cell of the point's own pattern, gates that are zero being off, wherever this is a cell; else the first cell
that touches it, in the order of gates, off before on.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold.network.ops.linear import Linear
from polyfold.network.ops.movement import Take
from polyfold.network.ops.op import constant
from polyfold.network.ops.switches import Clamp, Maximum, Minimum, Rectify
from polyfold.network.read.builder import Builder

Array = npt.NDArray[np.float64]

BOX = pf.box(-2, 2)


def small_numbers(rng: np.random.Generator, *shape: int) -> Array:
    """Walls through many points of a grid, and many walls through some."""
    return rng.integers(-2, 3, shape).astype(float)


def layers(rng: np.random.Generator) -> pf.Network:
    dim, width = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    first = small_numbers(rng, width, dim), small_numbers(rng, width) / 2
    second = small_numbers(rng, 3, width), small_numbers(rng, 3)
    return pf.load([first, second, (small_numbers(rng, 2, 3), np.zeros(2))])


def other_ops(rng: np.random.Generator) -> pf.Network:
    """A clamp of either kind, then the larger and the smaller of pairs, then a leaky rectifier."""
    builder, dim = Builder("test"), int(rng.integers(1, 4))
    value = builder.port("x", (dim,))
    value = builder.emit("one", Linear(constant(small_numbers(rng, 4, dim)), constant(np.zeros(4))), value)
    value = builder.emit("clamp", Clamp(-1.0, 1.0, flat_at_bounds=bool(rng.integers(2))), value)
    value = builder.emit("two", Linear(constant(small_numbers(rng, 4, 4)), constant(np.zeros(4))), value)
    pair = [builder.emit("take", Take(np.arange(2) + 2 * k), value) for k in range(2)]
    value = builder.emit("pair", Maximum() if rng.integers(2) else Minimum(), *pair)
    value = builder.emit("leaky", Rectify(constant(1.0), constant(0.25)), value)
    return builder.finish([value])


@pytest.mark.parametrize("seed", quick_then_slow(range(32), quick=16))
def test_all_name_the_same_cell(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = (other_ops if seed % 4 == 0 else layers)(rng)
    atlas = pf.unfold(network, BOX)
    shallow = pf.rewrite.shallow(atlas)
    X = rng.integers(-4, 5, (8, network.input_dim)) / 2
    cells, maps, matrices = atlas.locate(X), pf.local(network, X, domain=BOX), pf.maps.matrices(network, X)
    assert shallow.piece(X).tolist() == cells.tolist()
    for i, x in enumerate(X):
        assert shallow.exactly(x).piece == cells[i]
        assert np.array_equal(np.stack([matrices.of(j)[i, :-1] for j in matrices.outputs]), maps.A[i])
        mapped = pf.maps.of_pattern(network, maps.signs[i])
        assert np.array_equal(mapped.A, maps.A[i])
        own = atlas.index.find(maps.patterns[[i]])[0]
        assert maps.thin[i] == (own < 0)
        if own >= 0:
            assert own == cells[i]
        touching = [pattern for pattern in atlas.signs().tolist() if touches(network, atlas, pattern, x)]
        assert atlas.signs([cells[i]])[0].tolist() == min(touching)
    x = X[int(rng.integers(len(X)))]
    explored = pf.explore(network, x, max_cells=1, domain=BOX)
    assert np.array_equal(explored.patterns[0], atlas.patterns[atlas.locate([x])[0]])


def touches(network: pf.Network, atlas: pf.Atlas, pattern: Sequence[bool], x: Array) -> bool:
    """Whether a cell has the signs of all gates that are not zero at x, which are computed in fractions here."""
    return all(on == (value > 0) for on, value in zip(pattern, gates(atlas.program, x), strict=True) if value)


def gates(program: pf.program.Program, x: Array) -> list[Fraction]:
    """Every gate's value, straight from the definition of a program."""
    sources, values = [[Fraction(v) for v in x.tolist()]], []
    for stage in program.stages:
        here = [Fraction(b) for b in stage.affine.bias.tolist()]
        for block in stage.affine.blocks:
            for k, row in enumerate(block.weight.tolist()):
                here[k] += sum((Fraction(w) * v for w, v in zip(row, sources[block.source], strict=True)), Fraction(0))
        slopes = zip(stage.slope_on.tolist(), stage.slope_off.tolist(), strict=True)
        sources.append([Fraction(on if z > 0 else off) * z for (on, off), z in zip(slopes, here, strict=True)])
        values += here
    return values


def test_every_point_of_a_degenerate_grid_lies_in_one_piece() -> None:
    """Five lines through the origin and one past it: most pieces at the origin have facets on few of these lines."""
    W = np.array([[1, 0], [0, 1], [1, 1], [1, -1], [2, 1], [1, 1]], dtype=float)
    network = [(W, np.array([0, 0, 0, 0, 0, -1.0])), (np.ones((1, 6)), np.zeros(1))]
    atlas = pf.unfold(network, BOX)
    shallow = pf.rewrite.shallow(atlas)
    for x in product((-2, -1, 0, 1, 2), repeat=2):
        assert shallow.exactly(x).piece == atlas.locate([x])[0] == shallow.piece([x])[0]


def test_an_edit_acts_at_the_point_that_it_was_made_for() -> None:
    rng = np.random.default_rng(5)
    for _ in range(6):
        network = layers(rng)
        atlas = pf.unfold(network, BOX)
        shallow = pf.rewrite.shallow(atlas)
        x = rng.integers(-2, 3, (1, network.input_dim)).astype(float)
        edited = pf.rewrite.edit(
            shallow, region=atlas.locate(x), map=(np.zeros((2, network.input_dim)), np.array([7.0, 9.0]))
        )
        assert edited.network(x).tolist() == [[7.0, 9.0]]


def test_nearly_on_a_wall_is_not_on_it() -> None:
    """The sum of three tenths is above 0.3 in floats, and below it as the fractions that these floats are."""
    network = [(np.ones((1, 3)), np.array([-0.3])), (np.ones((1, 1)), np.zeros(1))]
    atlas = pf.unfold(network, BOX)
    x = np.array([[0.1, 0.1, 0.1]])
    on = sum(map(Fraction, x[0].tolist())) > Fraction(0.3)
    assert atlas.signs(atlas.locate(x))[0, 0] == on
    assert pf.rewrite.shallow(atlas).piece(x).tolist() == atlas.locate(x).tolist()
    assert pf.local(network, x).signs[0, 0] == on
