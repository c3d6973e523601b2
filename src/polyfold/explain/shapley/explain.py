"""shapley: which feature contributes how much to what a network says, so that it adds up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.clock import Report, running
from polyfold._base.inputs import features_of, rows_of
from polyfold._base.options import whole_number
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold._base.types import Array, ArrayLike
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.certificate import what_is_spoken_of
from polyfold.atlas.evidence import computed_in_floats, evidence_of
from polyfold.engine.source import SourceLike, as_program, of_gates
from polyfold.errors import DomainError, LimitError, PolyfoldError, ShapeError
from polyfold.explain.shapley.local_models import explain_locally
from polyfold.explain.shapley.locators import AtlasPlaces, NetworkPlaces
from polyfold.explain.shapley.references import Effort, explain_against
from polyfold.explain.shapley.result import Estimated, LocalShapley, Scope, Shapley
from polyfold.network.scores import Of, asked_of
from polyfold.program.passes.floats import with_sizes
from polyfold.program.program import Program


@question("explain.shapley")
def shapley(
    source: SourceLike,
    X: ArrayLike,
    *,
    background: ArrayLike | Literal["uniform"] | None = None,
    means: ArrayLike | Mapping[int, ArrayLike] | None = None,
    scope: Scope = "interventional",
    empty: str = "error",
    estimate: int | None = None,
    confidence: float = 0.99,
    seed: int = 0,
    max_coalitions: int = 1 << 20,
    feature_names: Sequence[str] | None = None,
    of: Of = "scores",
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Shapley | LocalShapley:
    """Shapley values that add up: base value + the values of all features = f(x), for every input and output.

    Parameters
    ----------
    source : SourceLike
        A model, or an atlas of one.
    X : ArrayLike, shape (n, d) or (n, *the network's input shape)
        Inputs. With an atlas of a slice: points of its parameters, which are the features then.
    background : ArrayLike or "uniform", optional
        For "interventional" points; for "baseline" one input; for cells and regions "uniform" (an atlas, bounded
        there), or points, of which those in an input's cell count, the input itself left out once.
    means : ArrayLike or mapping, optional
        For cells and regions, instead of a background: the expectation of x, one row, one row per input, or a mapping
        from cells to rows.
    scope : str
        What is explained. "interventional": the network against background points, averaged: SHAP values, as the
        package shap has them. "baseline": the same against one reference point: features outside a coalition are the
        reference's. "cell": the affine model around each input, against the expectation of x over its cell. Exact in
        any dimension, and another question: the answer is a `LocalShapley`. "region": the same over its linear region;
        needs an atlas.
    empty : "error", "all" or "uniform"
        What to take where no other background point lies in an input's cell: nothing, the mean of all points (to which
        the local model is continued), or the uniform expectation.
    estimate : int, optional
        "baseline" and "interventional" are exact, or refused where the sum has more than max_coalitions hybrids. With a
        number of random orders, values are estimated there, with proved bounds in `estimate.error`.
    confidence : float
        Of an estimate's bounds.
    seed : int
        Of an estimate's random orders.
    max_coalitions : int
        The most hybrids of one pair of an input and a reference.
    feature_names : sequence of str, optional
        Names of the features; by default those of a data frame's columns.
    of : "scores" or "outputs"
        Scores are the outputs of a model without a head; "outputs" is refused for a model that has one (softmax,
        sigmoid, argmax). Scores are what shap calls raw margins or logits.
    max_seconds : float, optional
        Stop there, as Ctrl-C does: the first inputs are kept; LimitError if not even one was done, and for cells and
        regions, of which nothing is kept.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Shapley or LocalShapley
        For each input, feature and output what the feature adds.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> pf.explain.shapley(corner, [[3.0, -1.0]], background=[[-1.0, 1.0], [1.0, 1.0]]).values[0, :, 0].tolist()
    [2.5, -1.0]
    >>> found = pf.explain.shapley(pf.unfold(corner, pf.box(-4, 4)), [[3.0, -1.0]], background="uniform", scope="cell")
    >>> found.values[0, :, 0].round(9).tolist(), found.base_values[0].round(9).tolist()
    ([1.0, 0.0], [2.0])
    """
    if scope not in get_args(Scope):
        raise PolyfoldError(f"scope must be one of {', '.join(map(repr, get_args(Scope)))}, got {scope!r}")
    given = source if isinstance(source, Atlas) else as_program(source)
    subject = as_program(given)
    speaks_of, function = asked_of(of, subject.head, "a Shapley value"), what_is_spoken_of(subject)
    known = evidence_of(given) if isinstance(given, Atlas) else computed_in_floats(subject)
    if scope in ("cell", "region"):
        local = apart(lambda: _local(given, X, scope, background, means, empty, feature_names))
        return answered(replace(local, of=speaks_of, function=function), known)
    program = _program_of(given, scope)
    names = features_of(feature_names, X, program.input_dim, "feature ")
    rows = rows_of(X, program.input_dim, names=names)
    references = _references(program, background, means, scope, names)
    effort = Effort(
        whole_number("max_coalitions", max_coalitions, 1 << 40),
        _pairs(estimate),
        _confidence(confidence),
        _seed(seed),
    )
    with running().noting_interrupts():
        found = explain_against(program, rows, references, effort)
    rows = rows[: len(found.values)]
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
        names,
        estimate=how,
        of=speaks_of,
        function=function,
    )
    return answered(attribution, known, stopped_by=found.stopped_by)


def _local(
    source: Atlas | Program,
    X: Any,
    scope: Scope,
    background: Any,
    means: Any,
    empty: str,
    feature_names: Sequence[str] | None,
) -> LocalShapley:
    places: AtlasPlaces | NetworkPlaces
    if isinstance(source, Atlas):
        places = AtlasPlaces(of_gates(source), scope == "region")
    elif scope == "region":
        raise PolyfoldError("scope='region' needs an atlas, which knows the regions: pass pf.unfold(network, domain)")
    else:
        places = NetworkPlaces(source)
    names = features_of(feature_names, X, places.dim, "feature ")
    rows = rows_of(X, places.dim, names=names)
    if background is not None and not isinstance(background, str):
        background = rows_of(background, places.dim, what="background", names=names)
    found = explain_locally(places, rows, background, means, empty)
    return LocalShapley(
        rows,
        found.values,
        found.base_values,
        found.outputs,
        found.scale,
        scope,
        found.background,
        names,
        found.local,
        found.game,
    )


def _program_of(source: Atlas | Program, scope: str) -> Program:
    if isinstance(source, Atlas):
        if source.domain.is_slice:
            raise DomainError(
                f"scope={scope!r} mixes inputs, and hybrids of inputs leave the slice of this atlas: pass the network"
            )
        return source.program
    return source


def _references(program: Program, background: Any, means: Any, scope: str, names: tuple[str, ...]) -> Array:
    if means is not None:
        raise PolyfoldError(f"means= is for scope='cell' and scope='region'; scope {scope!r} needs background= points")
    if background is None or isinstance(background, str):
        what = "one input" if scope == "baseline" else "an array of inputs"
        raise PolyfoldError(
            f"scope {scope!r} needs {what} as background=, not {background!r}; against the mean of each input's own "
            "cell its local model is explained by scope='cell'"
        )
    rows = rows_of(
        background,
        program.input_dim,
        what="background",
        names=names,
        shape=np.shape(background) if np.size(background) == program.input_dim else None,
    )
    if not len(rows):
        raise ShapeError("the background has no points: give at least one")
    if scope == "baseline" and len(rows) > 1:
        raise ShapeError(
            f"scope 'baseline' takes one reference of {program.input_dim} numbers; background has shape {rows.shape}. "
            "For several there is scope='interventional'"
        )
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
