"""Shapley values of a random network by polyfold and by shap's explainers. Prints one JSON object.

    python run_shapley.py cell|baseline FEATURES SECONDS

Each method explains as many inputs as it can in about SECONDS, at least a few; polyfold explains them in one call.
Errors are against the definition, summed in numbers of 64 bits of mantissa, on the first inputs.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from math import factorial
from typing import Any

import numpy as np
import numpy.typing as npt

import polyfold as pf
from polyfold.program.lower.lower import lower

Array = npt.NDArray[Any]
Explain = Callable[[Array], Array]

# Hidden layers: small cells hold no background points, so there are few gates where cells are explained.
WIDTHS = {"cell": (8, 4), "baseline": (32, 32)}
POLYFOLD_ROWS = {"cell": 100_000, "baseline": 2_000}
BACKGROUND, FEWEST, MOST = 20_000, 50, 200  # points in all, and in a cell whose inputs are explained
CHECKED = 3


def network(rng: np.random.Generator, features: int, scope: str) -> list[tuple[Array, Array]]:
    widths = (features, *WIDTHS[scope], 1)
    return [(rng.normal(size=(b, a)) / np.sqrt(a), rng.normal(size=b)) for a, b in pairwise(widths)]


def forward(layers: list[tuple[Array, Array]], X: Array) -> Array:
    """The network in NumPy, for shap to call."""
    for W, b in layers[:-1]:
        X = np.maximum(X @ W.T + b, 0)
    return (X @ layers[-1][0].T + layers[-1][1])[:, 0]


def by_definition(f: Callable[[Array], Array], x: Array, points: Array) -> Array:
    """The sum over all coalitions, averaged over points, in long doubles."""
    n = len(x)
    masks = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(bool)
    outputs = sum(f(np.where(masks, x, point).astype(np.longdouble)) for point in points) / len(points)
    sizes = masks.sum(axis=1)
    weights = np.array([factorial(s - 1) * factorial(n - s) / factorial(n) if s else 0 for s in range(n + 1)])
    inside = [np.flatnonzero(masks[:, i]) for i in range(n)]
    return np.array([(weights[sizes[z]] * (outputs[z] - outputs[z ^ (1 << i)])).sum() for i, z in enumerate(inside)])


class Question:
    """Inputs to explain, and for every input the model and the points that it is explained against."""

    def __init__(self, scope: str, features: int) -> None:
        rng = np.random.default_rng(features)
        self.scope = scope
        self.layers = network(rng, features, scope)
        self.program = lower(pf.load(self.layers))
        if scope == "baseline":
            self.X = rng.normal(size=(POLYFOLD_ROWS[scope], features))
            self.background = rng.normal(size=(1, features))
            return
        self.background = rng.normal(size=(BACKGROUND, features))
        self.cell_of_point = np.packbits(self.program.evaluate(self.background)[1], axis=1)
        known, counts = np.unique(self.cell_of_point, axis=0, return_counts=True)
        wanted = {row.tobytes() for row in known[(counts >= FEWEST) & (counts <= MOST)]}
        found, count = [], 0
        while count < POLYFOLD_ROWS[scope]:
            X = rng.normal(size=(POLYFOLD_ROWS[scope], features))
            cells = np.packbits(self.program.evaluate(X)[1], axis=1)
            found.append(X[[row.tobytes() in wanted for row in cells]])
            count += len(found[-1])
        self.X = np.concatenate(found)[: POLYFOLD_ROWS[scope]]
        self.cells = np.packbits(self.program.evaluate(self.X)[1], axis=1)

    def key(self, i: int) -> bytes:
        """What inputs with the same model and points have in common."""
        return b"" if self.scope == "baseline" else self.cells[i].tobytes()

    def of(self, i: int) -> tuple[Callable[[Array], Array], Array]:
        """The model that input i's values explain, and the points against which."""
        if self.scope == "baseline":
            return lambda rows: forward(self.layers, rows), self.background
        # The local model of the cell, from its pattern.
        pattern = self.program.evaluate(self.X[i : i + 1])[1][0]
        a, c, first = np.eye(self.X.shape[1]), np.zeros(self.X.shape[1]), 0
        for W, b in self.layers[:-1]:
            on = pattern[first : first + len(b)]
            a, c, first = (W @ a) * on[:, None], (W @ c + b) * on, first + len(b)
        W, b = self.layers[-1]
        slope, constant = (W @ a)[0], (W @ c + b)[0]
        inside = (self.cell_of_point == self.cells[i]).all(axis=1)
        return lambda rows: rows @ slope + constant, self.background[inside]

    def polyfold(self, X: Array) -> Array:
        background: Any = self.background[0] if self.scope == "baseline" else self.background
        return pf.explain.shapley(self.program, X, background=background, scope=self.scope).values[:, :, 0]  # type: ignore[arg-type]


def timed_polyfold(question: Question, seconds: float) -> tuple[float, int, Array]:
    question.polyfold(question.X[:2])
    spent, count = 0.0, 0
    while spent < seconds:
        start = time.process_time()
        values = question.polyfold(question.X)
        spent += time.process_time() - start
        count += values.size
    return spent, count, values


def timed_shap(question: Question, seconds: float, made: Callable[..., Explain]) -> tuple[float, int, Array]:
    """One input after another, since models differ from cell to cell; building explainers is not timed."""
    explainers: dict[bytes, Explain] = {}
    spent, count, found = 0.0, 0, []
    for i in range(len(question.X)):
        if question.key(i) not in explainers:
            explainers[question.key(i)] = made(*question.of(i))
        start = time.process_time()
        values = explainers[question.key(i)](question.X[i : i + 1])
        taken = time.process_time() - start
        # The first call compiles.
        spent, count = (spent + taken, count + values.size) if i else (0.0, 0)
        found.append(values[0])
        if spent > seconds and i >= CHECKED:
            break
    return spent, count, np.array(found)


def exact(model: Callable[[Array], Array], points: Array) -> Explain:
    import shap

    explainer = shap.explainers.Exact(model, shap.maskers.Independent(points, max_samples=len(points)))
    return lambda X: np.asarray(explainer(X).values)


def kernel(model: Callable[[Array], Array], points: Array) -> Explain:
    import shap

    explainer = shap.KernelExplainer(model, points)
    # All coalitions, and no selection of features: its most accurate setting.
    return lambda X: np.asarray(explainer.shap_values(X, nsamples=2 ** X.shape[1], l1_reg=0, silent=True))


def main() -> None:
    """Measure all methods."""
    warnings.simplefilter("ignore")
    logging.getLogger("shap").setLevel(logging.ERROR)
    scope, features, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    question = Question(scope, features)
    asked = [question.of(i) for i in range(CHECKED)]
    true = np.array([by_definition(model, x, points) for x, (model, points) in zip(question.X, asked, strict=False)])
    answer: dict[str, Any] = {"inputs": len(question.X)}
    answer["points"] = float(np.mean([len(question.of(i)[1]) for i in range(min(50, len(question.X)))]))
    methods = {
        "polyfold": lambda: timed_polyfold(question, seconds),
        "exact": lambda: timed_shap(question, seconds, exact),
        "kernel": lambda: timed_shap(question, seconds, kernel),
    }
    for name, method in methods.items():
        spent, count, values = method()
        error = float(np.abs(values[:CHECKED] - true).max())
        answer[name] = {"values_a_second": count / spent, "error": error}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
