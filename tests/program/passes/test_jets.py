"""Maps and walls over a slice's parameters: pushed forward they are what is pulled back through all inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import polyfold as pf
from helpers.random_networks import networks
from helpers.slow_params import examples
from polyfold.domain.domain import Domain
from polyfold.network import Network
from polyfold.program.lower.lower import lower
from polyfold.program.passes.jets import has_short_jets, parameter_maps, parameter_walls
from polyfold.program.passes.pulled_back import gate_forms, output_forms

QUICK = settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * (1 + np.abs(expected).max(initial=0.0)))


@QUICK
@given(networks(with_spatial=True))
@pytest.mark.parametrize("structured", [True, False])
def test_jets_are_pulled_back_forms(structured: bool, network: Network) -> None:
    program = lower(network, structured=structured)
    rng = np.random.default_rng(0)
    n, dim = network.input_dim, int(rng.integers(1, 4))
    nothing = np.zeros((0, n)), np.zeros(0), np.zeros((0, dim)), np.zeros(0)
    domain = Domain(rng.normal(size=n), rng.normal(size=(n, dim)), *nothing)
    signs = rng.random(size=(7, program.gates)) < 0.5
    A, c = output_forms(program, signs)
    found_A, found_c = parameter_maps(program, domain, signs)
    close(found_A, A @ domain.basis)
    close(found_c, c + A @ domain.origin)
    if program.gates:
        rows, gates = np.sort(rng.integers(0, 7, size=12)), rng.integers(0, program.gates, size=12)
        a, b = gate_forms(program, signs[rows], gates)
        found_a, found_b = parameter_walls(program, domain, signs, rows, gates)
        close(found_a, a @ domain.basis)
        close(found_b, b + a @ domain.origin)


def test_an_atlas_of_a_slice_uses_them_in_any_order() -> None:
    rng = np.random.default_rng(1)
    layers = [(rng.normal(size=(9, 6)), rng.normal(size=9)), (rng.normal(size=(2, 9)), rng.normal(size=2))]
    atlas = pf.unfold(layers, pf.plane(*rng.normal(size=(3, 6)), extend=(-2, 2)))
    assert has_short_jets(atlas.domain) and len(atlas) > 10
    cells = [7, 2, 2, 9, 0]
    A, c = atlas.maps(cells)
    over_A, over_c = atlas.maps(cells, over="parameters")
    close(over_A, A @ atlas.domain.basis)
    close(over_c, c + A @ atlas.domain.origin)
    # Witnesses lie inside, and every vertex on as many rows as two.
    for cell in cells:
        rows, b = atlas.halfspaces([cell])[0]
        assert (rows @ atlas.witnesses[cell] < b).all()
        slack = np.abs(b[:, None] - rows @ atlas.vertices([cell])[0].T)
        assert ((slack < 1e-9).sum(axis=0) >= 2).all()
    many = atlas.halfspaces([cells[0], cells[3]])
    close(many[1][0], atlas.halfspaces([cells[3]])[0][0])
