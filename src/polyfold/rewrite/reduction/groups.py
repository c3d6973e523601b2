"""Gates of a stage whose zeros are one hyperplane: their pre-activations are multiples of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq

from polyfold._base.clock import tick
from polyfold.exact.rational_arrays import Rationals
from polyfold.program.exact_program import ExactStage

# The places that are not zero, and a few ratios.
_Fingerprint = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
_COMPARED = 4


@dataclass(frozen=True)
class Group:
    """The pre-activation of members[k] is factors[k] times that of members[0]."""

    members: tuple[int, ...]
    factors: tuple[fmpq, ...]


def forms(stage: ExactStage) -> Rationals:
    """All coefficients of every pre-activation, the bias last."""
    return np.concatenate([*stage.rows.terms.values(), stage.rows.bias[:, None]], axis=1)


def is_constant(form: Rationals) -> bool:
    """Whether a pre-activation depends on nothing."""
    return not form[:-1].any()


def groups(stage: ExactStage, gates: list[int]) -> list[Group]:
    """Some gates of a stage, none of them constant, by hyperplanes."""
    rows = forms(stage)
    found: dict[_Fingerprint, list[list[tuple[int, fmpq]]]] = {}
    for gate in gates:
        tick()
        row = rows[gate]
        places = tuple(k for k, value in enumerate(row.tolist()) if value)
        lead = row[places[0]]
        alike = found.setdefault(_fingerprint(row, places), [])
        for members in alike:
            first, factor = rows[members[0][0]], lead / members[0][1]
            if all(row[k] == factor * first[k] for k in places):
                members.append((gate, lead))
                break
        else:
            alike.append([(gate, lead)])
    return [
        Group(tuple(gate for gate, _ in members), tuple(lead / members[0][1] for _, lead in members))
        for alike in found.values()
        for members in alike
    ]


def _fingerprint(row: Rationals, places: tuple[int, ...]) -> _Fingerprint:
    """The same for all multiples of a row, and for hardly any other."""
    some = [row[k] / row[places[0]] for k in places[1 : 1 + _COMPARED]]
    # Hashing rationals themselves is slow.
    return places, tuple((int(value.p), int(value.q)) for value in some)
