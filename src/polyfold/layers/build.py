"""truncation: a network as maps of its input space."""

from __future__ import annotations

from dataclasses import replace

from polyfold._base.apart import apart
from polyfold._base.as_found import first_hand
from polyfold._base.clock import Report, running
from polyfold._base.evidence import THE_NETWORK
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold.atlas.evidence import computed_in_floats
from polyfold.engine.source import SourceLike, as_network
from polyfold.errors import PolyfoldError
from polyfold.exact.linear_algebra import exact_rank
from polyfold.exact.rational_arrays import Rationals, nearest, product
from polyfold.layers.dense_layers import Layer, dense_layers
from polyfold.layers.lifting import lifted
from polyfold.layers.one_map import TruncationMap, map_from_rationals
from polyfold.layers.result import Truncation
from polyfold.program.lower.lower import lower


@question("layers.truncation")
def truncation(
    source: SourceLike,
    *,
    lift: bool = False,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Truncation:
    """A chain of dense ReLU layers as truncation maps of its input space, followed by an affine map.

    Layer l is tau(x) = W^+ (relu(W x + b) - b) with the cumulative weights W = W_l ... W_1 and biases. If every hidden
    layer is surjective (no wider than the one before it, and of full rank), this is the network itself: the states x
    satisfy W x + b = the values behind the layer. Elsewhere states still show the data, and `check` says how much
    they lose.

    Parameters
    ----------
    source : SourceLike
        A model that is a chain of dense layers with ReLUs between them, or an atlas of one.
    lift : bool
        Whether to embed the inputs in a space with as many dimensions as the first layer has gates, for a first layer
        that widens. Its weights are extended to an invertible matrix there, so that nothing is lost by widening.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Truncation
        One map per hidden layer, and the affine map behind them.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> rng = np.random.default_rng(0)
    >>> layers = [(rng.normal(size=(3, 3)), rng.normal(size=3)), (rng.normal(size=(2, 3)), rng.normal(size=2))]
    >>> found = pf.layers.truncation(layers)
    >>> found
    Truncation of R^3: 1 map of 3 gates; the network is these maps and an affine one, proved
    >>> X = rng.normal(size=(4, 3))
    >>> bool(np.abs(found.outputs(X) - pf.load(layers)(X)).max() < 1e-9)
    True
    """
    loaded = as_network(source)
    layers = apart(lambda: dense_layers(loaded))
    if lift:
        if len(layers) == 1:
            raise PolyfoldError(
                "lift=True is for networks whose first hidden layer widens; this one has no hidden layer"
            )
        layers = (apart(lambda: lifted(layers[0])), *layers[1:])
    maps: list[TruncationMap] = []
    surjective: list[bool] = []
    cumulative: tuple[Rationals, Rationals] | None = None
    least = layers[0].weight.shape[1]
    for layer in layers[:-1]:
        rank = apart(lambda: exact_rank(layer.weight))  # noqa: B023  # called at once
        surjective.append(rank == len(layer.bias))
        # A product has no larger rank than any of its factors.
        least = min(least, rank)
        cumulative = apart(lambda: _behind(cumulative, layer))  # noqa: B023  # called at once
        maps.append(apart(lambda: map_from_rationals(*cumulative, exact_rank(cumulative[0], least))))  # noqa: B023
        running().tell(len(maps), len(layers) - 1, "layers")
    weight, bias = apart(lambda: _behind(cumulative, layers[-1]))
    names = tuple(layer.name for layer in layers[:-1])
    found = Truncation(
        loaded, names, tuple(maps), nearest(weight), nearest(bias), tuple(surjective), lift, layers, (weight, bias)
    )
    known = computed_in_floats(lower(loaded))
    if all(surjective):
        known = first_hand(replace(known, proof="every hidden layer is surjective, as rationals say", of=THE_NETWORK))
    return answered(found, known)


def _behind(before: tuple[Rationals, Rationals] | None, layer: Layer) -> tuple[Rationals, Rationals]:
    """W_l W^(l-1) and W_l b^(l-1) + b_l."""
    if before is None:
        return layer.weight, layer.bias
    weight, bias = before
    return product(layer.weight, weight), product(layer.weight, bias) + layer.bias
