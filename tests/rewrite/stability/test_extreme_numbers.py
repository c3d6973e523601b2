"""Numbers at the ends of what floats hold: what underflows, cancels or overflows proves nothing wrong."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from polyfold._base.clock import Clock
from polyfold.domain.domain import resolve_domain
from polyfold.engine.bounds.bounded_domain import place_of
from polyfold.program.exact_program import from_layers, from_program
from polyfold.program.passes.bounded_layers import in_floats
from polyfold.rewrite.stability import decide
from polyfold.rewrite.stability.claims import Ledger
from polyfold.testing.networks import program_from_layers


@pytest.mark.parametrize("steep", [1e17, 1e6 + 0.1, -1e17])
def test_slopes_of_very_different_sizes(steep):
    """1 - 1e17 is no float: its gate passes [1, 2] on all the same, and the next one is on."""
    layers = [([[1.0]], [0.0]), ([[1.0]], [-1 + 2.0**-40]), ([[1.0]], [0.0])]
    program = program_from_layers(layers, slopes=[(1.0, steep), (1.0, 0.0)])
    assert pf.rewrite.stability(program, pf.box(1, 2)).behaviour == ("on", "on")
    assert pf.reduce(program, pf.box(1, 2)).program.evaluate([[1.5]]) == from_program(program).evaluate([[1.5]])


def test_slopes_of_very_different_sizes_beside_others(monkeypatch):
    """|x| + g - 5/2, where g is on and in [1, 2], has both signs on [-1, 1]; without g it would have one."""
    monkeypatch.setattr(decide, "_CELL_DIMENSIONS", 0)
    monkeypatch.setattr(decide, "_BOX_DIMENSIONS", 0)
    first = ([[1.0], [-1.0], [0.5]], [0.0, 0.0, 1.5])
    program = program_from_layers(
        [first, ([[1.0, 1.0, 1.0]], [-2.5]), ([[1.0]], [0.0])], slopes=[(1.0, [0.0, 0.0, 1e17]), (1.0, 0.0)]
    )
    assert pf.rewrite.stability(program, pf.box(-1, 1)).behaviour == ("switches", "switches", "on", "switches")


def test_coefficients_that_underflow_are_not_zero():
    """On the slice the pre-activation is 1e-400 times the parameter, which has both signs."""
    program = program_from_layers([([[1e-200]], [0.0]), ([[1e300]], [0.0])])
    domain = pf.slice_of([0.0], [[1e-200]], bounds=pf.box(-1, 1))
    assert pf.rewrite.stability(program, domain).behaviour == ("switches",)
    assert pf.reduce(program, domain).neurons_after == 1


@pytest.mark.parametrize("far", [0, 600])
def test_rows_beyond_the_floats_are_undecided(far):
    """Nothing is said of them, nor of what reads them; of the others, still."""
    tiny, huge = rational_power(-400), rational_power(far)
    program = from_layers([([[tiny], [1]], [0, 2]), ([[huge, 0], [0, 1]], [0, 1]), ([[1, 1]], [0])])
    with Clock(1):
        found = decide.settled(program, place_of(resolve_domain(pf.box(-1, 1), 1)))
    assert found.behaviour[:2] == ("undecided", "on") and found.behaviour[3] == "on"


def rational_power(exponent):
    from flint import fmpq

    return fmpq(10) ** exponent


def test_signs_at_points_after_outputs_that_underflow():
    """1e300 relu(1e-400 x) - 1e-150 is positive at 1, though the product of slope and value is no float."""
    layers = [([[1e-200]], [0.0]), ([[1e300]], [-1e-150]), ([[1.0]], [0.0])]
    program = program_from_layers(layers, slopes=[(1e-200, 0.0), (1.0, 0.0)])
    exact = in_floats(from_program(program))
    ledger = Ledger(exact, [(np.full(1, -np.inf), np.full(1, np.inf))] * 2)
    ledger.meet(np.ones((1, 1)))
    assert not ledger.negative[1][0]


def test_a_rounding_error_of_coefficients_that_underflow():
    """A weight of 1e-400 becomes 0, which moves the output by 1e-100 where the input is 1e300."""
    from polyfold.rewrite.reduction.rounding_error import rounding_error

    program = from_layers([([[rational_power(-400)]], [0]), ([[1]], [0])])
    place = place_of(resolve_domain(pf.box(0, 1e300), 1))
    assert rounding_error(program, place).absolute[0] >= 1e-100


def test_witnesses_that_are_no_floats_are_no_points_of_the_domain(monkeypatch):
    """A sliver that holds no float: 1e-20 <= x - 3 y <= 2e-20. Its rounded witness lies outside."""
    seen = []
    monkeypatch.setattr(decide, "settle_touching", lambda *arguments: None)
    meet = Ledger.meet
    monkeypatch.setattr(Ledger, "meet", lambda ledger, points: (seen.append(points), meet(ledger, points)))
    program = program_from_layers([([[1.0, -3.0], [1.0, -3.0]], [-1e-20, -1.5e-20]), ([[1.0, 1.0]], [0.0])])
    domain = pf.polytope([[-1.0, 3.0], [1.0, -3.0], [1.0, 0.0], [-1.0, 0.0]], [-1e-20, 2e-20, 2.0, -1.0])
    assert pf.rewrite.stability(program, domain).behaviour == ("on", "switches")
    place = place_of(resolve_domain(domain, 2))
    assert all(place.contains(points).all() for points in seen)


def test_weights_that_the_solver_refuses(monkeypatch):
    """HiGHS takes no coefficients of 1e20: what only linear programs could settle is undecided."""
    monkeypatch.setattr(decide, "_CELL_DIMENSIONS", 0)
    monkeypatch.setattr(decide, "_BOX_DIMENSIONS", 0)
    spread = ([[1e20, 0.0], [0.0, 1e20], [1e20, 1e20]], [0.0, 0.0, 0.0])
    layers = [spread, ([[-1.0, -1.0, 1.0]], [0.0]), ([[1.0]], [0.0])]
    assert pf.rewrite.stability(layers, pf.box(-1, 1)).behaviour == (*["switches"] * 3, "undecided")


def test_an_atlas_that_is_stopped_is_looked_at_in_a_moment(monkeypatch):
    """Of many cells only a few for every gate pass the network: after an interrupt nobody wants to wait for all."""
    seen = []
    meet = Ledger.meet
    monkeypatch.setattr(Ledger, "meet", lambda ledger, points: (seen.append(len(points)), meet(ledger, points)))
    monkeypatch.setattr(decide, "_MOST_CELLS", 20_000)
    rng = np.random.default_rng(0)
    shapes = [(24, 6), (24, 24), (24, 24), (1, 24)]
    layers = [(rng.normal(size=shape), rng.normal(size=shape[0])) for shape in shapes]
    layers[2] = (layers[2][0], layers[2][1] - 150)  # never switches, as only some search can tell
    assert pf.rewrite.stability(layers, pf.box(-1, 1), max_seconds=2).counts["switches"] >= 40
    assert max(seen) < 10_000
