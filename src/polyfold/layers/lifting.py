"""A first layer that widens: iota puts the inputs into a larger space, in which an invertible matrix takes its place.

W_1 = W~ iota with iota(x) = (x, 0) and W~ = [W_1 | N]. Any N whose columns complete those of W_1 to a basis will do.
An orthonormal basis of what W_1 does not reach keeps the picture: then the first d0 coordinates of the first state are
those of W_1's own truncation map, and the others are what that map loses.
"""

from __future__ import annotations

import numpy as np

from polyfold.errors import PolyfoldError, how_many
from polyfold.exact.linear_algebra import exact_rank
from polyfold.exact.rational_arrays import nearest, rationals
from polyfold.layers.dense_layers import Layer


def lifted(first: Layer) -> Layer:
    """The first layer with W~ in place of W_1. That W~ is invertible has been decided in rationals."""
    gates, inputs = first.weight.shape
    if inputs >= gates:
        raise PolyfoldError(
            f"lift=True is for networks whose first layer widens; {first.name!r} has {how_many(gates, 'gate')} for "
            f"{how_many(inputs, 'input')}: leave it out"
        )
    rank = exact_rank(first.weight)
    if rank < inputs:
        raise PolyfoldError(
            f"lift=True needs a first layer that forgets no input direction; the weights of {first.name!r} have rank "
            f"{rank}, and there are {how_many(inputs, 'input')}, so no invertible matrix extends them: leave it out"
        )
    basis, _ = np.linalg.qr(nearest(first.weight), mode="complete")
    weight = np.concatenate([first.weight, rationals(np.ascontiguousarray(basis[:, inputs:]))], axis=1)
    if exact_rank(weight) < gates:
        # Only weights that floats cannot tell from a smaller rank come here: unit vectors complete any basis.
        weight = first.weight
        for unit in rationals(np.eye(gates)):
            wider = np.concatenate([weight, unit[:, None]], axis=1)
            weight = wider if exact_rank(wider) == wider.shape[1] else weight
    return Layer(first.name, weight, first.bias)
