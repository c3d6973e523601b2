"""Slow and independent answers to the questions of separability: SciPy's floats, and Python's fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
from scipy.optimize import linprog

# Between these two gaps floats do not tell, and a test says nothing.
NONE, SOME = 1e-9, 1e-6


def gap(A, B):
    """Half the widest gap between two sets along normals with entries of at most one."""
    dim = A.shape[1]
    rows = np.block(
        [[A, -np.ones((len(A), 1)), np.ones((len(A), 1))], [-B, np.ones((len(B), 1)), np.ones((len(B), 1))]]
    )
    bounds = [(-1, 1)] * dim + [(None, None)] * 2
    found = linprog([0] * (dim + 1) + [-1], A_ub=rows, b_ub=np.zeros(len(rows)), bounds=bounds)
    return found.x[-1]


def nearest_crossing(A, B, centre, mean):
    """The least s at which a hyperplane between A and B can cross the segment from the centre to the mean of A."""
    a, b, step = A - centre, B - centre, mean - centre
    rows = np.block([[a, np.ones((len(a), 1))], [-b, -np.ones((len(b), 1))]])
    found = linprog(
        [0] * len(centre) + [1],
        A_ub=rows,
        b_ub=np.zeros(len(rows)),
        A_eq=[[*(-step), 0]],
        b_eq=[1],
        bounds=[(None, None)] * (len(centre) + 1),
    )
    return found.x[-1]


def separable_in(order, classes, centre):
    """Whether one order works, by limits; None if floats do not tell."""
    points = []
    sure = True
    for place, k in enumerate(order):
        others = np.concatenate([[centre], *([p] for p in points), *(classes[i] for i in order[place + 1 :])])
        width = gap(classes[k], others)
        if width < NONE:
            return False if sure else None
        if width < SOME:
            sure = False
        mean = classes[k].mean(axis=0)
        points.append(centre + nearest_crossing(classes[k], others, centre, mean) * (mean - centre))
    return True if sure else None


def some_order(X, y):
    """Every order of the classes and whether it works."""
    classes = [X[y == k] for k in range(int(y.max()) + 1)]
    centre = np.mean([A.mean(axis=0) for A in classes], axis=0)
    return {order: separable_in(order, classes, centre) for order in permutations(range(len(classes)))}


def on_a_grid(X, y, places=(0.05, 0.2, 0.4, 0.6, 0.8, 0.95)):
    """Whether base points on a grid work in some order, straight from the definition."""
    classes = [X[y == k] for k in range(int(y.max()) + 1)]
    means = [A.mean(axis=0) for A in classes]
    centre = np.mean(means, axis=0)
    for order in permutations(range(len(classes))):
        for mus in product(places, repeat=len(classes)):
            points = {k: mu * centre + (1 - mu) * means[k] for k, mu in zip(order, mus, strict=True)}
            if all(_cut(classes, order, place, points) for place in range(len(order))):
                return True
    return False


def _cut(classes, order, place, points):
    """A hyperplane through the point of a class: seen from there, all directions on one side."""
    k = order[place]
    ahead = [np.array([points[i]]) for i in order[:place]] + [classes[i] for i in order[place + 1 :]]
    towards = np.concatenate([points[k] - classes[k], *(part - points[k] for part in ahead)])
    dim = towards.shape[1]
    found = linprog(
        [0] * dim + [-1],
        A_ub=np.column_stack([-towards, np.ones(len(towards))]),
        b_ub=np.zeros(len(towards)),
        bounds=[(-1, 1)] * dim + [(None, 1)],
    )
    return found.x[-1] > SOME


# -- in fractions


def fractions(rows):
    return [[Fraction(float(entry)) for entry in row] for row in np.asarray(rows, dtype=float)]


def weighted(points, weights):
    """The weighted sum of points, as a list of fractions."""
    dim = len(points[0])
    return [sum((w * points[k][i] for k, w in weights.items()), Fraction(0)) for i in range(dim)]


def added(*vectors):
    return [sum(entries, Fraction(0)) for entries in zip(*vectors, strict=True)]


def times(factor, vector):
    return [factor * entry for entry in vector]


def mean(rows):
    return times(Fraction(1, len(rows)), added(*rows))
