"""shapley: which feature contributes how much to what a network says, so that it adds up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from polyfold._base.evidence import NOTHING_KNOWN
from polyfold._base.options import whole_number
from polyfold._base.progress import reporter
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import what_is_spoken_of
from polyfold.atlas.evidence import evidence_of, resting_on
from polyfold.engine.cells.local import input_rows
from polyfold.errors import DomainError, LimitError, PolyfoldError, ShapeError
from polyfold.explain.shapley.local_models import explain_locally
from polyfold.explain.shapley.locators import AtlasPlaces, NetworkPlaces
from polyfold.explain.shapley.references import Effort, explain_against
from polyfold.explain.shapley.result import Estimated, LocalShapley, Scope, Shapley
from polyfold.network.load import load
from polyfold.network.scores import Of, asked_of
from polyfold.program.lower.lower import lower
from polyfold.program.passes.sizes import with_sizes
from polyfold.program.program import Program

Array = npt.NDArray[np.float64]


def shapley(
    network_or_atlas: Any,
    X: Any,
    *,
    background: Any = None,
    means: Any = None,
    scope: Scope = "interventional",
    empty: str = "error",
    estimate: int | None = None,
    confidence: float = 0.99,
    seed: int = 0,
    max_coalitions: int = 1 << 20,
    feature_names: Sequence[str] | None = None,
    of: Of = "scores",
    progress: bool | Callable[[int], None] = False,
) -> Shapley | LocalShapley:
    """Shapley values that add up: base value + the values of all features = f(x), for every input and output.

    Parameters
    ----------
    network_or_atlas: an atlas, or anything that `pf.load` takes.
    X: inputs, (n, d) or (n, *the network's input shape). With an atlas of a slice: points of its parameters, which
        are the features then.
    scope: what is explained.
        "interventional": the network against background points, averaged: SHAP values, as the package shap has them.
        "baseline": the same against one reference point: features outside a coalition are the reference's.
        "cell": the affine model around each input, against the expectation of x over its cell. Exact in any dimension,
        and another question: the answer is a `LocalShapley`.
        "region": the same over its linear region; needs an atlas.
    background: for "interventional" points; for "baseline" one input; for cells and regions "uniform" (an atlas,
        bounded there), or points, of which those in an input's cell count, the input itself left out once.
    means: for cells and regions, instead of a background: the expectation of x, one row, a row for each input, or a
        mapping from cells to rows.
    empty: what to take where no other background point lies in an input's cell: "error", "all" (the mean of all points,
        to which the local model is continued), or "uniform".
    estimate: "baseline" and "interventional" are exact, or refused where the sum has more than max_coalitions hybrids.
        With a number of random orders, values are estimated there, with proved bounds in `estimate.error`.
    confidence, seed: of an estimate.
    feature_names: names of the features; those of a data frame's columns are taken from it.
    of: "scores", which are the outputs of a model without a head; "outputs" is refused for a model that has one
        (softmax, sigmoid, argmax). Scores are what shap calls raw margins or logits.
    progress: True for a progress line on standard error, or a function that is called with the number of inputs so far;
        cells and regions, which take no time, report nothing.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> pf.explain.shapley(corner, [[3.0, -1.0]], background=[[-1.0, 1.0], [1.0, 1.0]]).values[0, :, 0].tolist()
    [2.5, -1.0]
    >>> found = pf.explain.shapley(pf.unfold(corner, pf.box(-4, 4)), [[3.0, -1.0]], background="uniform", scope="cell")
    >>> found.values[0, :, 0].round(9).tolist(), found.base_values[0].round(9).tolist()
    ([1.0, 0.0], [2.0])
    """
    if scope not in get_args(Scope):
        raise PolyfoldError(f"scope={scope!r} is no option: use {', '.join(map(repr, get_args(Scope)))}")
    names = _names(feature_names, X)
    given = network_or_atlas if isinstance(network_or_atlas, Atlas | Program) else lower(load(network_or_atlas))
    subject = given.program if isinstance(given, Atlas) else given
    speaks_of, function = asked_of(of, subject.head, "a Shapley value"), what_is_spoken_of(subject)
    known = evidence_of(given) if isinstance(given, Atlas) else NOTHING_KNOWN
    if scope in ("cell", "region"):
        local = _local(given, X, scope, background, means, empty, names)
        return resting_on(known, replace(local, of=speaks_of, function=function))
    program = _program_of(given, scope)
    rows = input_rows(program, X)
    named = _named(names, program.input_dim)
    references = _references(program, background, means, scope)
    effort = Effort(
        whole_number("max_coalitions", max_coalitions, 1 << 40),
        _pairs(estimate),
        _confidence(confidence),
        _seed(seed),
    )
    with reporter(progress, "inputs") as report:
        found = explain_against(program, rows, references, effort, report)
    (outputs, here), (at_references, there) = with_sizes(program, rows), with_sizes(program, references)
    base = np.tile(at_references.mean(axis=0), (len(rows), 1))
    how = None
    if found.error is not None:
        assert effort.pairs_of_orders is not None
        how = Estimated(2 * effort.pairs_of_orders, effort.confidence, effort.seed, found.error)
    words = "a reference point" if scope == "baseline" else f"{len(references)} background points"
    scale = np.maximum(here, there.max())
    attribution = Shapley(
        rows,
        found.values,
        base,
        outputs,
        scale,
        scope,
        words,
        named,
        estimate=how,
        of=speaks_of,
        function=function,
    )
    return resting_on(known, attribution)


def _local(
    network_or_atlas: Atlas | Program,
    X: Any,
    scope: Scope,
    background: Any,
    means: Any,
    empty: str,
    names: Sequence[str] | None,
) -> LocalShapley:
    places: AtlasPlaces | NetworkPlaces
    if isinstance(network_or_atlas, Atlas):
        places = AtlasPlaces(network_or_atlas, scope == "region")
    elif scope == "region":
        raise PolyfoldError("scope='region' needs an atlas, which knows the regions: pass pf.unfold(network, domain)")
    else:
        places = NetworkPlaces(_program_of(network_or_atlas, scope))
    rows = places.rows(X)
    named = _named(names, rows.shape[1])
    found = explain_locally(places, rows, background, means, empty)
    return LocalShapley(
        rows,
        found.values,
        found.base_values,
        found.outputs,
        found.scale,
        scope,
        found.background,
        named,
        found.local,
        found.game,
    )


def _program_of(network_or_atlas: Atlas | Program, scope: str) -> Program:
    if isinstance(network_or_atlas, Atlas):
        if network_or_atlas.domain.is_slice:
            raise DomainError(
                f"scope={scope!r} mixes inputs, and hybrids of inputs leave the slice of this atlas: pass the network"
            )
        return network_or_atlas.program
    return network_or_atlas


def _references(program: Program, background: Any, means: Any, scope: str) -> Array:
    if means is not None:
        raise PolyfoldError(f"means= is for scope='cell' and scope='region'; scope {scope!r} needs background= points")
    if background is None or isinstance(background, str):
        what = "one input" if scope == "baseline" else "an array of inputs"
        raise PolyfoldError(
            f"scope {scope!r} needs {what} as background=, not {background!r}; against the mean of each input's own "
            "cell its local model is explained by scope='cell'"
        )
    if scope == "baseline":
        array = np.asarray(background.detach().cpu() if hasattr(background, "detach") else background)
        if array.size != program.input_dim:
            raise ShapeError(
                f"scope 'baseline' takes one reference of {program.input_dim} numbers; background has shape "
                f"{array.shape}. For several there is scope='interventional'"
            )
        return input_rows(program, array.reshape(1, -1))
    rows = input_rows(program, background)
    if not len(rows):
        raise ShapeError("the background has no points: give at least one")
    return rows


def _pairs(estimate: int | None) -> int | None:
    """Pairs of an order and its reverse for at least so many orders."""
    return None if estimate is None else (whole_number("estimate", estimate, 1 << 40) + 1) // 2


def _confidence(confidence: float) -> float:
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise LimitError(f"confidence={confidence!r} must be a probability between 0 and 1")
    return float(confidence)


def _seed(seed: int) -> int:
    if not isinstance(seed, Integral) or isinstance(seed, bool) or seed < 0:
        raise PolyfoldError(f"seed={seed!r} must be a whole number, 0 or more")
    return int(seed)


def _names(feature_names: Sequence[str] | None, X: Any) -> Sequence[str] | None:
    if feature_names is None and hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return feature_names


def _named(names: Sequence[str] | None, features: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"feature {k}" for k in range(features))
    if isinstance(names, str) or len(names) != features:
        raise ShapeError(f"feature_names must be {features} names, one for each feature, not {names!r}")
    return tuple(str(name) for name in names)
