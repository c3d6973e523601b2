"""Every certificate that is handed out can be checked with `fractions.Fraction` alone, and holds.

docs/checking.md shows the same checks to users. The oracle (plain.py) shares no code with the library.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from helpers import separability_proofs as proofs
from helpers.slow_params import quick_then_slow
from soundness.plain import evaluate, forms, inequalities, random_layers


def network(seed: int, *widths: int):
    return random_layers(np.random.default_rng(seed), *widths, lattice=seed % 2 == 0)


# -- contradictions


@pytest.mark.parametrize("batch", quick_then_slow(range(3), quick=1))
def test_contradictions_of_patterns(batch):
    infeasible = 0
    for seed in range(batch, 60, 3):
        layers = network(seed, 2, 5, 3, 1)
        rng = np.random.default_rng(seed)
        for _ in range(4):
            pattern = rng.integers(0, 2, size=8).astype(bool).tolist()
            found = pf.maps.of_pattern(layers, pattern, domain=pf.box(-1, 1))
            rows = inequalities(layers, pattern, -1, 1)
            if found.feasible:
                assert [value > 0 for value in evaluate(layers, found.witness.fractions)[1]] == pattern
                continue
            infeasible += 1
            assert found.contradiction, (seed, pattern)
            total, bound, strict = [Fraction(0), Fraction(0)], Fraction(0), False
            for wall, multiplier in found.contradiction.items():
                a, b, is_strict = rows[wall]
                assert multiplier > 0 and found.exact_row(wall) == (tuple(a), b), (seed, wall)
                total = [t + multiplier * v for t, v in zip(total, a, strict=True)]
                bound, strict = bound + multiplier * b, strict or is_strict
            assert not any(total) and (bound < 0 or (bound == 0 and strict)), (seed, pattern)
    assert infeasible > 30


# -- bounds


@pytest.mark.parametrize("batch", quick_then_slow(range(2), quick=1))
def test_largest_and_smallest_values(batch):
    for seed in range(batch, 16, 2):
        layers = network(seed, 2, 5, 3, 2)
        atlas = pf.unfold(layers, pf.box(-1, 1))
        atlas = atlas.with_certificate(pf.certify(atlas))
        for output, side, question in ((0, 1, pf.stats.maximum), (1, -1, pf.stats.minimum)):
            best = question(atlas, output=output)
            assert best.proved, (seed, best)
            value = evaluate(layers, best.exact_point)[0][output]
            assert value == best.exact_value == best.bound and all(-1 <= v <= 1 for v in best.exact_point)
            for cell in range(len(atlas)):
                here = question(atlas, output=output, cells=[cell])
                assert side * here.exact_value <= side * best.exact_value
                nothing_exceeds(layers, atlas.signs([cell])[0].tolist(), output, side, here)


def nothing_exceeds(layers, pattern, output, side, found) -> None:
    """The multipliers prove that the function exceeds the value nowhere on the cell."""
    slopes, constant = forms(layers, pattern)[0][output]
    rows = inequalities(layers, pattern, -1, 1)
    left, right = [Fraction(0)] * len(slopes), side * constant
    for wall, multiplier in found.multipliers.items():
        a, b, _ = rows[wall]
        assert multiplier > 0
        left = [x + multiplier * y for x, y in zip(left, a, strict=True)]
        right += multiplier * b
    assert left == [side * x for x in slopes] and right == side * found.exact_value


# -- routes


def test_routes_cross_facets():
    crossed = 0
    for seed in range(20):
        layers = network(seed, 2, 5, 3, 1)
        atlas = pf.unfold(layers, pf.box(-1, 1))
        ends = (0, len(atlas) - 1)
        by_points = [[float(v) for v in atlas.rational_witness(cell)] for cell in ends]
        routes = [pf.graph.path(atlas, *ends)]
        if not atlas.exact_witnesses:
            routes.append(pf.graph.path(layers, *by_points, domain=pf.box(-1, 1)))
        assert len({route.hops for route in routes}) == 1
        for route in routes:
            crossed += route.hops
            assert route.shortest and len(route.crossings) == route.hops
            cells = route.patterns.tolist()
            for step, point in enumerate(route.crossings):
                values = evaluate(layers, point)[1]
                for gate, value in enumerate(values):
                    before, after = cells[step][gate], cells[step + 1][gate]
                    if gate in route.gates[step]:
                        assert value == 0
                    else:
                        # Zero only if it is so all around, and then it is off on both sides.
                        assert before == after == (value > 0)
                assert all(-1 < v < 1 for v in point)
    assert crossed > 60


# -- equal and different


def side_by_side(first, second):
    """Two networks of the same depth on one input, as one network with both outputs."""
    joined = []
    for number, ((W, b), (V, c)) in enumerate(zip(first, second, strict=True)):
        if number:
            W = [row + [0.0] * len(V[0]) for row in W]
            V = [[0.0] * (len(W[0]) - len(V[0])) + row for row in V]
        joined.append((W + V, list(b) + list(c)))
    return joined


def turned_around(layers, rng):
    """The same function: neurons of the first layer in another order and rescaled by powers of two."""
    (W, b), (V, c), *rest = layers
    order = rng.permutation(len(b)).tolist()
    scale = (2.0 ** rng.integers(-2, 3, size=len(b))).tolist()
    W = [[scale[k] * w for w in W[k]] for k in order]
    V = [[row[k] / scale[k] for k in order] for row in V]
    return [(W, [scale[k] * b[k] for k in order]), (V, c), *rest]


def everywhere_the_same(first, second) -> bool:
    """On every cell of both together they are one and the same affine map."""
    both = side_by_side(first, second)
    atlas = pf.unfold(both, pf.box(-1, 1))
    assert pf.certify(atlas)
    outputs = len(first[-1][1])
    for pattern in atlas.signs().tolist():
        found = forms(both, pattern)[0]
        if found[:outputs] != found[outputs:]:
            return False
    return True


def test_equal_and_different_networks():
    for seed in range(14):
        rng = np.random.default_rng(seed)
        layers = network(seed, 2, 4, 3, 1)
        same = turned_around(layers, rng)
        assert pf.equivalent(layers, same, pf.box(-1, 1)) and everywhere_the_same(layers, same)
        other = [*layers[:-1], (layers[-1][0], [layers[-1][1][0] + 2.0**-40])]
        found = pf.equivalent(layers, other, pf.box(-1, 1))
        assert found.word == "different" and not everywhere_the_same(layers, other)
        (one,), (another,) = evaluate(layers, found.point)[0], evaluate(other, found.point)[0]
        assert abs(one - another) == found.max_difference > 0 and all(-1 <= v <= 1 for v in found.point)


# -- reductions and stability


def test_what_is_reduced_is_the_same_function():
    smaller = 0
    for seed in range(0, 40, 2):
        layers = network(seed, 2, 6, 1)
        found = pf.reduce(layers, pf.box(0, 1))
        smaller += found.neurons_after < found.neurons_before
        assert found.exact and found.proved
        *stages, output = found.program.in_fractions()
        hidden = [(W, b) for stage in stages for W, b in zip(stage["weights"][0], stage["bias"], strict=True)]
        # Every cell of both layers together, on which both functions are affine.
        walls = [*zip(*layers[0], strict=True), *hidden]
        both = [
            ([[float(w) for w in W] for W, _ in walls], [float(b) for _, b in walls]),
            ([[0.0] * len(walls)], [0.0]),
        ]
        atlas = pf.unfold(both, pf.box(0, 1))
        assert pf.certify(atlas)
        for pattern in atlas.signs().tolist():
            (before,), _ = forms(layers, pattern[:6])
            slopes, constant = [Fraction(0)] * 2, output["bias"][0]
            if 0 in output["weights"]:
                slopes = output["weights"][0][0]
            for k, (W, b) in enumerate(hidden):
                slope = (stages[0]["slope_on"] if pattern[6 + k] else stages[0]["slope_off"])[k]
                weight = output["weights"][1][0][k] * slope
                slopes = [s + weight * w for s, w in zip(slopes, W, strict=True)]
                constant += weight * b
            assert (slopes, constant) == before, seed
    assert smaller > 8


def test_gates_that_never_switch_and_gates_that_do():
    words = []
    for seed in range(16):
        layers = network(seed, 2, 4, 3, 1)
        found = pf.rewrite.stability(layers, pf.box(0, 1))
        atlas = pf.unfold(layers, pf.box(0, 1))
        assert pf.certify(atlas)
        patterns = atlas.signs()
        for gate, word in enumerate(found.behaviour):
            cells = range(len(atlas))
            values = [evaluate(layers, [Fraction(v) for v in witness(atlas, cell)])[1][gate] for cell in cells]
            assert [value > 0 for value in values] == patterns[:, gate].tolist()
            words.append(word)
            # On a cell a gate has one sign, that of its witness.
            if word == "on":
                assert all(value >= 0 for value in values)
            elif word == "off":
                assert all(value <= 0 for value in values)
            else:
                assert word == "switches" and any(value > 0 for value in values) and any(value < 0 for value in values)
    assert all(words.count(word) > 5 for word in ("on", "off", "switches"))


def witness(atlas, cell) -> list[Fraction]:
    return [Fraction(int(v.p), int(v.q)) for v in atlas.rational_witness(cell)]


# -- separations


def labelled(seed: int, dim: int, classes: int, spread: float):
    """Points around a few centres, on a coarse lattice so that hulls meet in points and edges, too."""
    rng = np.random.default_rng(seed)
    y = np.arange(12) % classes
    X = np.round(4 * rng.normal(size=(classes, dim))[y] + spread * rng.normal(size=(12, dim)))
    # A point in two classes is refused: leave the later one out.
    first = {tuple(x): label for x, label in zip(reversed(X.tolist()), reversed(y.tolist()), strict=True)}
    keep = [first[tuple(x)] == label for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    return X[keep].tolist(), y[keep].tolist()


def test_separations():
    answers = []
    for seed in range(24):
        X, y = labelled(seed, 2, 2, (0.5, 4.0)[seed % 2])
        for kind, question, most in (("cone", pf.separation.cone, 2), ("simplex", pf.separation.simplex, 3)):
            found = question(X, y)
            answers.append((kind, found.word))
            if found:
                proofs.polyhedron_holds(found, X, y)
            else:
                proofs.no_polyhedron(found, X, y, most)
    for seed in range(24):
        X, y = labelled(seed, 2, 3, (0.5, 3.0)[seed % 2])
        found = pf.separation.sequential(X, y)
        answers.append(("sequential", found.word))
        data = proofs.Sequence(X, y)
        if found:
            data.steps_hold(found.steps)
        else:
            data.no_order_works(found.dead_ends)
    for kind in ("cone", "simplex", "sequential"):
        assert {(kind, "separable"), (kind, "not separable")} <= set(answers), kind
