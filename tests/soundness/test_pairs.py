"""Three hundred and sixty pairs of networks in ONNX files: no false "equal" and no false "different".

The judge is exact and knows nothing of polyfold (`oracle.py`): networks of one input are compared on their whole line,
others on many lines; a point where networks differ is evaluated in fractions; and what is said to be equal runs in
onnxruntime with the same outputs.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from helpers.slow_params import quick_then_slow
from polyfold.errors import ShapeError
from soundness.oracle import Layers, Vector, same_on_line, scores, trunk_and_head, winner
from soundness.pairs import Pair, pair, write_onnx

onnxruntime = pytest.importorskip("onnxruntime")
PAIRS, AT_ONCE = 360, 30
# The only pairs about which nothing need be decided: those whose heads differ.
UNKNOWN_AT_MOST = 0.05


def lines(pair: Pair, rng: np.random.Generator) -> list[tuple[Vector, Vector]]:
    if pair.inputs == 1:
        return [([Fraction(0)], [Fraction(1)])]
    drawn = rng.integers(-64, 65, size=(12, 2, pair.inputs))
    return [([Fraction(int(v), 16) for v in o], [Fraction(int(v), 16) for v in d]) for o, d in drawn if d.any()]


def same_function(pair: Pair, rng: np.random.Generator) -> bool:
    """For one input the truth; for more, False is the truth and True is what a dozen lines say."""
    return all(same_on_line(pair.a, pair.b, *line) for line in lines(pair, rng))


def differ_at(a: Layers, b: Layers, x: Vector) -> bool:
    """Whether the outputs of two networks with the same head differ at a point, exactly."""
    one, other = scores(a, x), scores(b, x)
    head = trunk_and_head(a)[1]
    if head == "argmax":
        return winner(one) != winner(other)
    if head in ("softmax", "log_softmax"):
        return [v - one[0] for v in one] != [v - other[0] for v in other]
    return one != other


def width(steps: Layers) -> int:
    """How many scores there are."""
    return len([step for step in steps if step[0] == "affine"][-1][2])


def run(path: Path, X: Any) -> Any:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": X})[0]


@pytest.mark.parametrize("first", quick_then_slow(range(0, PAIRS, AT_ONCE), quick=5))
def test_verdicts_are_true(first: int, tmp_path: Path) -> None:
    unknown = 0
    for seed in range(first, first + AT_ONCE):
        case = pair(seed)
        a, b = (
            write_onnx(tmp_path / f"{seed}{side}.onnx", steps, case.inputs)
            for side, steps in (("a", case.a), ("b", case.b))
        )
        heads = [trunk_and_head(steps)[1] for steps in (case.a, case.b)]
        if heads[0] != heads[1] and "argmax" in heads and width(case.a) > 1:
            with pytest.raises(ShapeError, match="agree in number"):  # a class is one number, scores are several
                pf.equivalent(a, b)
            continue
        found = pf.equivalent(a, b, max_seconds=20)
        rng = np.random.default_rng(seed)
        what = f"pair {seed} ({case.how}, heads {heads}): {found!r}"
        if found.word == "unknown":
            unknown += heads[0] == heads[1]
            continue
        if heads[0] != heads[1]:
            X = rng.normal(size=(20, case.inputs)) * 4 if found.word == "equal" else found.x[None]
            close = np.allclose(run(a, X).ravel(), run(b, X).ravel(), rtol=1e-12, atol=1e-12)
            assert close == (found.word == "equal"), what
            continue
        if found.word == "equal":
            assert same_function(case, rng), what
            X = rng.normal(size=(20, case.inputs)) * 4
            # Floats lose all digits in a large shear and back: there the files agree in real numbers only.
            runs = heads[0] != "argmax" and not case.how.startswith("_sheared")
            assert not runs or np.allclose(run(a, X), run(b, X), rtol=1e-9, atol=1e-9), what
        else:
            assert found.point is not None and differ_at(case.a, case.b, list(found.point)), what
            if case.inputs == 1:
                assert not same_function(case, rng), what
    assert unknown <= UNKNOWN_AT_MOST * AT_ONCE


def test_the_judge_tells_one_bit() -> None:
    """The judge itself: a bit in a weight that counts is a difference, a bit in a dead neuron is none."""
    a: Layers = [
        ("affine", np.array([[1.0], [0.0]]), np.array([0.0, -1.0])),
        ("relu",),
        ("affine", np.array([[1.0, 3.0]]), np.zeros(1)),
    ]
    line = ([Fraction(0)], [Fraction(1)])
    for place, same in (((0, 0), False), ((0, 1), True)):
        V = a[2][1].copy()
        V[place] = np.nextafter(V[place], 2 * V[place])
        assert same_on_line(a, [*a[:2], ("affine", V, a[2][2])], *line) is same
