"""Polygons read back from figures cover the view exactly once, in the colours of the classes."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.plotted_networks import DEGENERATE, Layers, forward, random_layers
from helpers.read_back import notes, shown
from helpers.slow_params import quick_then_slow
from polyfold.engine.unfold import unfold_program
from polyfold.plotting.render.style import class_colour, soft
from polyfold.testing.cases import generated_case

VIEW = (-1.5, 1.25, -1.0, 1.75)
LO, HI = np.array(VIEW[::2]), np.array(VIEW[1::2])
RENDERERS = ("plotly", "matplotlib")
TRIANGLE = pf.polytope([[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [1.0, 0.5, 1.0])
NETWORKS = {"random": random_layers(0, 7, 6), "one layer": random_layers(1, 9), **DEGENERATE}


def points_between(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(LO, HI, size=(count, 2))


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("colour", ["output", "class", "region"])
@pytest.mark.parametrize("name", NETWORKS)
def test_the_plane_is_covered_once(name: str, colour: str, renderer: str) -> None:
    figure = pf.plot(pf.unfold(NETWORKS[name]), colour=colour, view=VIEW, renderer=renderer)
    found = shown(figure)
    assert found.area == pytest.approx(float(np.prod(HI - LO)), rel=1e-9)
    assert all(len(found.at(point)) == 1 for point in points_between(1, 40))
    # Every one of these networks has cells without end.
    assert "go on beyond the view" in notes(figure) or "goes on" in notes(figure)


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("name", NETWORKS)
def test_colours_are_the_networks_own_classes(name: str, renderer: str) -> None:
    layers: Layers = NETWORKS[name]
    found = shown(pf.plot(pf.unfold(layers), colour="class", view=VIEW, renderer=renderer))
    points = points_between(2, 60)
    values = forward(layers, points)
    best = values.max(axis=1, keepdims=True)
    # Ties are the lowest number's; rounding must not decide them here.
    winner = (values >= best - 1e-12).argmax(axis=1)
    gap = np.sort(best - values, axis=1)[:, 1]
    clear = (gap > 1e-9) | (gap < 1e-13)
    assert clear.mean() > 0.9
    for point, k in zip(points[clear], winner[clear].tolist(), strict=True):
        assert found.at(point) == [soft(class_colour(k))]


@pytest.mark.parametrize("renderer", RENDERERS)
def test_a_domain_that_is_no_rectangle(renderer: str) -> None:
    atlas = pf.unfold(random_layers(2, 8, 5), TRIANGLE)
    figure = pf.plot(atlas, renderer=renderer)
    found = shown(figure)
    assert found.area == pytest.approx(2.5**2 / 2, rel=1e-9)
    assert found.area == pytest.approx(atlas.volumes().sum(), rel=1e-9)
    assert found.at(np.array([-0.9, -0.4])) and not found.at(np.array([0.9, 0.9]))
    assert "beyond the view" not in notes(figure)


def test_a_slice_of_a_larger_network() -> None:
    rng = np.random.default_rng(5)
    layers = [(rng.normal(size=(6, 4)), rng.normal(size=6)), (rng.normal(size=(2, 6)), rng.normal(size=2))]
    p, q, r = rng.normal(size=(3, 4))
    found = shown(pf.plot(pf.unfold(layers, pf.plane(p, q, r)), colour="class"))
    assert found.area == pytest.approx(1, rel=1e-9)
    for u, v in rng.uniform(0, 1, size=(30, 2)):
        winner = int(forward(layers, (p + u * (q - p) + v * (r - p))[None])[0].argmax())
        assert found.at(np.array([u, v])) == [soft(class_colour(winner))]


@pytest.mark.parametrize(
    "seed", quick_then_slow([s for s in range(60) if generated_case(s).domain.dim == 2][:16], quick=8)
)
def test_generated_networks_on_generated_domains(seed: int) -> None:
    """Odd seeds are degenerate networks, on domains that may be unbounded."""
    case = generated_case(seed)
    atlas = unfold_program(case.program, case.domain)
    found = shown(pf.plot(atlas, view=VIEW))
    for u in points_between(seed, 40):
        x = case.domain.lift(u[None])[0]
        room = np.concatenate(
            [
                case.domain.input_offsets - case.domain.input_rows @ x,
                case.domain.parameter_offsets - case.domain.parameter_rows @ u,
            ]
        )
        if np.abs(room).min(initial=1.0) > 1e-9:
            assert len(found.at(u)) == int((room > 0).all())
