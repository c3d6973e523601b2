"""Scopes "baseline" and "interventional": Shapley values of the network itself, against one or more reference points.

Exact where the sum over coalitions is short enough: by all hybrids if few features differ, by small games if what bends
between the two points touches few features each. Else an estimate, if the user asked for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from polyfold._base.clock import OutOfTimeError, running, tick
from polyfold._base.types import Array
from polyfold.errors import LimitError
from polyfold.explain.shapley.coalitions import BLOCK, Readout, games
from polyfold.explain.shapley.permutations import error_bound, estimated, gain_ranges
from polyfold.explain.shapley.structure import Structure, structure
from polyfold.program.program import Program


@dataclass(frozen=True)
class Effort:
    """How much work is allowed for one pair of an input and a reference, and how to estimate beyond that."""

    max_coalitions: int
    pairs_of_orders: int | None
    confidence: float
    seed: int


@dataclass(frozen=True, eq=False)
class AgainstReferences:
    """Values (n, features, outputs), and bounds on their errors; None where nothing was estimated.

    If something stopped the work these are those of the first inputs.
    """

    values: Array
    error: Array | None
    stopped_by: str | None = None


def explain_against(program: Program, X: Array, references: Array, effort: Effort) -> AgainstReferences:
    """The values of all rows, averaged over the references; those of the first ones if time does not suffice."""
    values = np.zeros((len(X), program.input_dim, program.output_dim))
    error = np.zeros_like(values)
    if program.input_dim <= BLOCK and 2**program.input_dim <= effort.max_coalitions:
        parts = _all_features(program, X, references, values)
    else:
        parts = _one_by_one(program, X, references, effort, values, error)
    done, stopped_by = 0, None
    try:
        for done in parts:
            running().tell(done, len(X), "inputs")
    except OutOfTimeError as stopped:
        if not done:
            raise
        stopped_by = stopped.stopped_by
    values, error = values[:done].copy(), error[:done].copy()
    return AgainstReferences(values, error if error.any() else None, stopped_by)


def _one_by_one(
    program: Program, X: Array, references: Array, effort: Effort, values: Array, error: Array
) -> Iterator[int]:
    """Fill in values and bounds; how many inputs are done."""
    rng = np.random.default_rng(effort.seed)
    for i, x in enumerate(X):
        too_long = []
        for k, reference in enumerate(references):
            tick()
            found = _exactly(program, x, reference, effort, (i, k))
            if found is None:
                too_long.append(reference)
            else:
                values[i] += found
        if too_long:
            assert effort.pairs_of_orders is not None
            rest = estimated(program, x, np.array(too_long), effort.pairs_of_orders, rng)
            ranges = [gain_ranges(program, x, reference) for reference in too_long]
            values[i] += rest.mean
            error[i] = error_bound(rest, ranges, effort.confidence)
        values[i] /= len(references)
        error[i] /= len(references)
        yield i + 1


def _all_features(program: Program, X: Array, references: Array, values: Array) -> Iterator[int]:
    """Few features: many games at once, all features in each. How many inputs are done."""
    features = np.arange(program.input_dim)
    at_once = max(1, 4096 // len(references))
    for first in range(0, len(X), at_once):
        rows = X[first : first + at_once]
        pairs = np.repeat(rows, len(references), axis=0)
        found = games(program, pairs, np.tile(references, (len(rows), 1)), features)
        values[first : first + at_once] = found.reshape(len(rows), len(references), *found.shape[1:]).mean(axis=1)
        yield min(first + at_once, len(X))


def _exactly(program: Program, x: Array, reference: Array, effort: Effort, which: tuple[int, int]) -> Array | None:
    """The exact values (features, outputs) of one pair; None where that is too much and an estimate is wanted."""
    active = np.flatnonzero(x != reference)
    values = np.zeros((program.input_dim, program.output_dim))
    if len(active) <= BLOCK and 2 ** len(active) <= effort.max_coalitions:
        values[active] = games(program, x[None], reference[None], active)[0]
        return values
    found = structure(program, x, reference)
    if found.coalitions <= min(effort.max_coalitions, 2 ** len(active)):
        return by_terms(program, x, reference, found)
    if 2 ** len(active) <= effort.max_coalitions:
        values[active] = games(program, x[None], reference[None], active)[0]
        return values
    if effort.pairs_of_orders is None:
        raise LimitError(
            f"input {which[0]} and reference {which[1]} differ in {len(active)} features, and gates that may bend "
            f"between them link up to {found.largest_game} of these: the exact sum has at least 2^{found.largest_game} "
            f"coalitions, and max_coalitions={effort.max_coalitions:,}. Ask for an estimate with a proved error bound "
            "(estimate=1000, a number of random orders), raise max_coalitions, or use scope='cell', which is exact in "
            "any dimension"
        )
    return None


def by_terms(program: Program, x: Array, reference: Array, found: Structure) -> Array:
    """The values (features, outputs) as the closed formula of the affine part, and a game for every term."""
    values: Array = (found.A * (x - reference)).T.copy()
    for term in found.terms:
        readout = Readout(term.gates)
        values[term.features] += games(program, x[None], reference[None], term.features, readout)[0]
    return values
