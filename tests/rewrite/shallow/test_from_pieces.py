"""Networks from pieces: what fits is the function, what does not is refused with the place."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.domain.points import contains
from polyfold.errors import PolyfoldError, ShapeError
from polyfold.testing import generated_case

LEFT = (([[1.0]], [0.0]), ([[-1.0]], [0.0]))
RIGHT = (([[-1.0]], [0.0]), ([[1.0]], [0.0]))
# Four triangles of a square around its middle, and a pyramid over them.
SQUARE = [[0.0, 1.0], [0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]


def pyramid() -> list[Any]:
    pieces = []
    for way in SQUARE:
        others = [other for other in SQUARE if other != way]
        A = [[o - w for o, w in zip(other, way, strict=True)] for other in others]
        pieces.append(((A, [0.0] * 3), ([way, [3 * x for x in way]], [0.0, 1.0])))
    return pieces


def pieces_of(atlas: pf.Atlas, fractions: bool) -> list[Any]:
    """An atlas as somebody would write it down, in exact numbers or rounded ones."""
    from polyfold.atlas.geometry.cell_maps import ExactMaps
    from polyfold.program.passes.integer_forms import ExactForms

    A, c = atlas.maps(over="parameters")
    rows = atlas.halfspaces()
    if not fractions:
        return [(rows[cell], (A[cell], c[cell])) for cell in range(len(atlas))]
    forms, maps = ExactForms(atlas.program, atlas.domain), ExactMaps(atlas)
    pieces = []
    for cell in range(len(atlas)):
        signs = atlas.signs([cell])[0].tolist()
        exact = forms.under(tuple(signs)).rows
        walls = [int(atlas.facet_wall[facet]) for facet in atlas.facets(cell)]
        inward = [exact[wall] if wall >= atlas.gates or signs[wall] else [-x for x in exact[wall]] for wall in walls]
        numbers = [Fraction(int(x.p), int(x.q)) for x in maps[cell]]
        lines = [numbers[k : k + atlas.dim + 1] for k in range(0, len(numbers), atlas.dim + 1)]
        A = np.array([[-x for x in row[:-1]] for row in inward], dtype=object).reshape(-1, atlas.dim)
        pieces.append(((A, [row[-1] for row in inward]), ([line[:-1] for line in lines], [line[-1] for line in lines])))
    return pieces


def test_a_pyramid() -> None:
    network = pf.rewrite.from_pieces(pyramid())
    points = np.random.default_rng(0).normal(size=(500, 2))
    height = np.abs(points).max(axis=1)
    assert np.allclose(network(points), np.column_stack([height, 3 * height + 1]), rtol=1e-12)
    # Two diagonals; four pieces with two conditions each.
    assert len(network) == 4 and len(network.c) == 2 and len(network.condition) == 8 and len(network.sides) == 4
    assert network.exactly([0, 0]).outputs == (0, 1) and network.exactly([Fraction(1, 3)] * 2).outputs == (
        Fraction(1, 3),
        2,
    )
    boxed = pf.rewrite.from_pieces(pyramid(), pf.box(-1, 2))
    assert boxed.of_domain.sum() == 4 and np.allclose(boxed([[2.0, -1.0]]), [[2.0, 7.0]])


@pytest.mark.parametrize("seed", range(16))
def test_the_pieces_of_an_atlas_make_its_network(seed: int) -> None:
    case = generated_case(seed, size=3)
    atlas = pf.unfold(case.program, case.domain)
    if atlas.domain.is_slice or len(atlas) > 30:
        pytest.skip("a slice, or much work in rationals")
    network = pf.rewrite.from_pieces(pieces_of(atlas, fractions=True), case.domain)
    points = np.concatenate([atlas.witnesses, *atlas.vertices()])
    points = points[contains(case.domain, points)]
    expected, _ = case.program.evaluate(points)
    assert np.allclose(network(points), expected, rtol=1e-9, atol=1e-9), case
    assert len(network) == len(atlas) and len(network.sides) == atlas.inner_facets, case
    assert len(network.c) == len(pf.rewrite.shallow(atlas).c), case


def test_rounded_pieces_need_a_tolerance() -> None:
    rng = np.random.default_rng(3)
    layers = [(rng.normal(size=(4, 2)), rng.normal(size=4)), (rng.normal(size=(3, 4)), rng.normal(size=3))]
    atlas = pf.unfold([*layers, (rng.normal(size=(1, 3)), rng.normal(size=1))], pf.box(-2, 2))
    pieces = pieces_of(atlas, fractions=False)
    with pytest.raises(PolyfoldError, match=r"overlap around|no piece covers|do not meet continuously"):
        pf.rewrite.from_pieces(pieces, pf.box(-2, 2))
    network = pf.rewrite.from_pieces(pieces, pf.box(-2, 2), tolerance=1e-12)
    points = rng.uniform(-2, 2, size=(2000, 2))
    expected, _ = atlas.program.evaluate(points)
    assert np.allclose(network(points), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("pieces", "options", "message"),
    [
        ([LEFT], {}, r"no piece covers \[1.0\]"),
        (
            [LEFT, RIGHT, (([[1.0], [-1.0]], [2.0, -1.0]), ([[1.0]], [0.0]))],
            {},
            r"pieces 1 and 2 overlap around \[1.5\]",
        ),
        (
            [LEFT, (([[-1.0]], [0.0]), ([[1.0]], [0.5]))],
            {},
            r"pieces 0 and 1 do not meet continuously: at \[0.0\] output 0 jumps by 0.5",
        ),
        ([LEFT, (([[-1.0]], [1e-9]), ([[1.0]], [0.0]))], {}, "pieces 0 and 1 overlap around"),
        ([LEFT, (([[-1.0]], [-1e-9]), ([[1.0]], [0.0]))], {}, "no piece covers"),
        ([LEFT, RIGHT, (([[1.0], [-1.0]], [1.0, -1.0]), ([[1.0]], [0.0]))], {}, "piece 2 has no interior"),
        ([LEFT, RIGHT, (([[1.0], [-1.0]], [1.0, -2.0]), ([[1.0]], [0.0]))], {}, "piece 2 is empty"),
        ([LEFT, RIGHT], {"domain": pf.line([0.0], [2.0])}, "the domain given is a slice"),
        ([LEFT, RIGHT], {"tolerance": -1.0}, "tolerance=-1.0"),
        ([LEFT, RIGHT], {"tolerance": np.inf}, "tolerance=inf"),
        ([LEFT, RIGHT], {"tolerance": "x"}, "tolerance='x'"),
        ([], {}, "there are no pieces"),
        (None, {}, "there are no pieces in None"),
        # Apart by less than the tolerance, with a jump of 100 between them.
        (
            [(([[1.0]], [0.0]), ([[0.0]], [0.0])), (([[-1.0]], [-1e-9]), ([[0.0]], [100.0]))],
            {"domain": pf.box(-1, 1), "tolerance": 1e-6},
            "do not meet continuously: .* jumps by 100",
        ),
        # A jump that grows along an endless facet.
        (
            [(([[1.0, 0.0]], [0.0]), ([[0.0, 0.0]], [0.0])), (([[-1.0, 0.0]], [0.0]), ([[0.0, 1e4]], [0.0]))],
            {"tolerance": 1e-3},
            "jumps by more and more",
        ),
    ],
)
def test_what_is_no_continuous_function_is_refused(pieces: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(PolyfoldError, match=message):
        pf.rewrite.from_pieces(pieces, **options)


def test_large_tolerances_and_gaps_within_them() -> None:
    assert pf.rewrite.from_pieces([LEFT, RIGHT], tolerance=1.0)([[2.0]]).tolist() == [[2.0]]
    gap = pf.rewrite.from_pieces([LEFT, (([[-1.0]], [-1e-9]), ([[1.0]], [0.0]))], tolerance=1e-6)
    with pytest.raises(PolyfoldError, match=r"no piece passes at .*within it"):
        gap.exactly([5e-10])
    assert abs(gap([[5e-10]])[0, 0]) < 1e-9


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([3], r"piece 0 is no \(\(A, b\), \(W, c\)\): 3"),
        ([LEFT, (([[1.0]], [0.0, 1.0]), ([[1.0]], [0.0]))], "piece 1: .* do not fit together"),
        (
            [LEFT, (([[1.0, 1.0]], [0.0]), ([[1.0, 1.0]], [0.0]))],
            "piece 1 maps 2 inputs to 1 output, piece 0 maps 1 to 1",
        ),
        ([(([[float("nan")]], [0.0]), ([[1.0]], [0.0]))], "piece 0 has something that is not a finite number"),
        ([(([["x"]], [0.0]), ([[1.0]], [0.0]))], "piece 0 has something that is not a finite number"),
    ],
)
def test_what_is_no_piece_is_quoted(pieces: list[Any], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        pf.rewrite.from_pieces(pieces)
