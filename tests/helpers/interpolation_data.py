"""Labelled data of the kinds that the theorems speak of, made so that they are of that kind and no simpler one."""

from __future__ import annotations

import numpy as np


def clusters(dim, classes, rng, each=5):
    """Small balls around random means."""
    y = np.repeat(np.arange(classes), each)
    means = rng.normal(size=(classes, dim))
    edges = (means[1:] - means[0]).T
    # Half of the least height of the simplex of means is at least its smallest singular value, shared by all corners.
    size = np.linalg.svd(edges, compute_uv=False)[-1] / (2 * classes)
    noise = rng.normal(size=(len(y), dim))
    return means[y] + 0.2 * size * noise / np.linalg.norm(noise, axis=1)[:, None], y


def sequence(dim, classes, rng, each=4):
    """Long flat classes, far from balls: each wide across the direction in which it is cut off."""
    y = np.repeat(np.arange(classes), each)
    means = 10 * np.eye(dim)[:classes] + rng.normal(size=(classes, dim)) * 0.1
    spread = rng.normal(size=(len(y), dim)) * 1.5
    for k in range(classes):
        spread[y == k, k] *= 0.1
        spread[y == k] -= spread[y == k].mean(axis=0)
    return means[y] + spread, y


def in_a_cone(dim, rng, inner=6, outer=12):
    """One class in the negative sector of a random cone, the other one outside of it, on all sides."""
    generators = np.linalg.qr(rng.normal(size=(dim, dim)))[0] + 0.3 * rng.normal(size=(dim, dim)) / dim
    inside = -rng.uniform(0.5, 3, size=(inner, dim))
    outside = rng.uniform(-3, 3, size=(max(outer, 2 * dim), dim))
    outside[np.arange(len(outside)), np.arange(len(outside)) % dim] = rng.uniform(0.5, 3, len(outside))
    X = np.concatenate([inside, outside]) @ generators + rng.normal(size=dim)
    return X, np.repeat([0, 1], [inner, len(outside)])


def around_a_simplex(dim, rng, inner=8, each=3):
    """One class inside a random simplex, the other beyond its facets, some points behind each."""
    corners = np.concatenate([np.eye(dim), -np.ones((1, dim)) / np.sqrt(dim)]) * 4 + 0.2 * rng.normal(
        size=(dim + 1, dim)
    )
    inside = rng.dirichlet(np.full(dim + 1, 2.0), size=inner)
    y = np.repeat([0, 1], [inner, each * (dim + 1)])
    outside = rng.dirichlet(np.full(dim + 1, 2.0), size=each * (dim + 1))
    for k, row in enumerate(outside):
        row[k % (dim + 1)] = -rng.uniform(0.3, 1.0)
        row /= row.sum()
    return np.concatenate([inside, outside]) @ corners, y
