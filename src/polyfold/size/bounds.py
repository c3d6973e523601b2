"""bounds: how many cells a network can have by what is known of its layers, next to the number that it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from polyfold._base.clock import Report
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_from, evidence_of, nothing_known_of
from polyfold.domain.domain import DomainLike, resolve_domain
from polyfold.engine.bounds import formulas
from polyfold.engine.bounds.formulas import in_short
from polyfold.engine.count import Count
from polyfold.engine.source import SourceLike
from polyfold.errors import PolyfoldError, how_many
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.network.ops.linear import Linear, Normalise, Scale, Shift
from polyfold.network.ops.movement import Reshape
from polyfold.network.ops.switches import Rectify
from polyfold.network.ops.unrounded import in_floats
from polyfold.program.affine import WrittenOut
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program

_PLAIN = (Linear, Normalise, Rectify, Reshape, Scale, Shift)

# Sums of binomials take minutes beyond so many gates times dimensions, and have millions of digits.
_MOST_TERMS = 1 << 24
# Longer ones are not written out as JSON: few readers take them.
_MOST_BITS = 4096


@dataclass(frozen=True)
class Bound:
    """One bound, or the reason why it says nothing about this network.

    Attributes
    ----------
    name : str
        Who found it.
    kind : str
        "upper": no network of these layers has more cells on any domain of this dimension. "lower": weights exist with
        so many regions on R^d; this network may have fewer. "estimate": what random networks have on average, about; no
        bound. "facets": of a straight way, and so of distances between cells.
    value : int or None
        The number.
    formula : str
        How it is computed.
    reason : str or None
        Why there is none.
    """

    name: str
    kind: str
    value: int | None
    formula: str
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.name}: {in_short(self.value) if self.value is not None else self.reason}"


@dataclass(frozen=True, repr=False)
class Bounds(Rows):
    """Bounds on the cells of a network by the widths of its layers.

    `evidence` says what is known of the number of cells. The upper bounds do not rest on it: they are theorems.

    Attributes
    ----------
    dim : int
        Of the domain.
    widths : tuple of int
        How many gates each layer has.
    cells : int or None
        How many cells there are, where that is known: all of a complete atlas or count.
    entries : tuple of Bound
        The bounds.
    """

    dim: int
    widths: tuple[int, ...]
    cells: int | None
    entries: tuple[Bound, ...]

    def __iter__(self) -> Iterator[Bound]:
        return iter(self.entries)

    def __getitem__(self, name: str) -> Bound:
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise PolyfoldError(f"there is no bound {name!r}: there are {', '.join(entry.name for entry in self.entries)}")

    def __repr__(self) -> str:
        known = f"{self.cells:,} cells ({self.evidence})" if self.cells is not None else "cells not counted"
        layers = f"layers of {', '.join(map(str, self.widths))} gates" if self.widths else "no gates"
        lines = [f"Bounds: {known}, {layers}, {how_many(self.dim, 'dimension')}"]
        return "\n".join([*lines, *(f"  {entry.kind:8} {entry}" for entry in self.entries)])

    @property
    def gates(self) -> int:
        return sum(self.widths)

    @property
    def upper(self) -> int:
        """The least of the upper bounds that hold for this network."""
        return min(entry.value for entry in self.entries if entry.kind == "upper" and entry.value is not None)

    def rows(self) -> dict[str, Any]:
        """One row per bound."""
        names = ("name", "kind", "value", "formula", "reason")
        return {name: [getattr(entry, name) for entry in self.entries] for name in names}

    def facts(self) -> dict[str, Any]:
        """Plain values. A number of more than a thousand digits is null, and `short` says about how large it is."""
        return {
            "dim": self.dim,
            "widths": list(self.widths),
            "cells": self.cells,
            "upper": _written(self.upper),
            "bounds": [
                {
                    "name": e.name,
                    "kind": e.kind,
                    "value": None if e.value is None else _written(e.value),
                    "short": None if e.value is None else in_short(e.value),
                    "formula": e.formula,
                    "reason": e.reason,
                }
                for e in self.entries
            ],
        }

    def ask_instead(self) -> str:
        return "compare one of its numbers, say bounds.upper"


@question("size.bounds")
def bounds(
    source: SourceLike | Count,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Bounds:
    """What the literature says about the number of cells, from the widths of the layers and the domain's dimension.

    docs/bounds.md names the papers.

    Parameters
    ----------
    source : model, Network, Program, Atlas or Count
        What is asked about; an atlas or `pf.count(...)` brings its domain and the number of cells along.
    domain : Domain, optional
        Only its dimension matters: that of a slice is smaller than the network's inputs.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Bounds
        Upper and lower bounds, an estimate, and the number of cells if it is known.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> rng = np.random.default_rng(0)
    >>> lines = [(rng.normal(size=(5, 2)), rng.normal(size=5)), (np.ones((1, 5)), np.zeros(1))]
    >>> found = pf.size.bounds(pf.unfold(lines))
    >>> found.cells, found["Zaslavsky"].value, found.upper
    (16, 16, 16)
    """
    if isinstance(source, Atlas | Count):
        if domain is not None:
            raise PolyfoldError("a domain is given with a network only: an atlas or a count has its own")
        cells = len(source) if isinstance(source, Atlas) else source.cells
        found = _bounds(source.program, source.domain.dim, cells if source.complete else None, None)
        known = evidence_of(source) if isinstance(source, Atlas) else evidence_from(source.certificate)
        return answered(found, known)
    network = None if isinstance(source, Program) else load(source)
    program: Program = source if network is None else lower(network)  # type: ignore[assignment]
    where = resolve_domain(domain, program.input_dim)
    return answered(_bounds(program, where.dim, None, network), nothing_known_of(program, where))


def _bounds(program: Program, dim: int, cells: int | None, network: Network | None) -> Bounds:
    widths = tuple(stage.width for stage in program.stages)
    gates = sum(widths)
    skips = _why_not_a_chain(program)
    slopes = None if all(stage.is_relu for stage in program.stages) else "needs gates that are zero where they are off"
    long = None if gates * dim <= _MOST_TERMS else f"not computed: sums over {gates:,} gates in {dim:,} dimensions"
    one_layer = long if len(widths) == 1 else f"holds for one layer; there are {len(widths)}"
    entries = (
        _bound("all patterns", "upper", "2^N", None, lambda: 2**gates),
        _bound("Zaslavsky", "upper", "sum C(n, j), j <= d", one_layer, lambda: formulas.zaslavsky(widths[0], dim)),
        _bound("Raghu 2017", "upper", "prod sum C(n_l, j), j <= d", long, lambda: formulas.raghu(widths, dim)),
        _bound(
            "Montufar 2017",
            "upper",
            "prod sum C(n_l, j), j <= min(d, n_1, ..., n_l)",
            skips or long,
            lambda: formulas.montufar_2017(widths, dim),
        ),
        _bound(
            "Serra 2018",
            "upper",
            "sum prod C(n_l, j_l), j_l <= min(d, n_1 - j_1, ..., n_(l-1) - j_(l-1), n_l)",
            skips or slopes or long,
            lambda: formulas.serra_2018(widths, dim),
        ),
        _bound(
            "Montufar 2014",
            "lower",
            "prod floor(n_l / d)^d sum C(n_L, j), j <= d",
            skips or slopes or _why_weights_are_not_free(network, program) or _why_too_narrow(widths, dim) or long,
            lambda: formulas.montufar_2014(widths, dim),
        ),
        _bound("Hanin-Rolnick 2019", "estimate", "N^d / d!", long, lambda: formulas.hanin_rolnick(gates, dim)),
        _bound("segment", "facets", "prod (n_l + 1) - 1", None, lambda: formulas.segment_bound(widths)),
    )
    return Bounds(dim, widths, cells, entries)


def _bound(name: str, kind: str, formula: str, reason: str | None, value: Any) -> Bound:
    return Bound(name, kind, None if reason else value(), formula, reason)


def _why_not_a_chain(program: Program) -> str | None:
    """Why a layer does not see the one before it only: skips, and comparisons with values from farther back."""
    for number, stage in enumerate(program.stages):
        if set(stage.affine.sources) - {number}:
            return f"needs layers that read the one before them only; layer {number + 1} reads others, too"
    return None


def _why_weights_are_not_free(network: Network | None, program: Program) -> str | None:
    """Why some weights cannot be chosen as one likes. Without the network itself, a zero may be one of them."""
    if network is None:
        for number, stage in enumerate(program.stages):
            affine = stage.affine
            if not isinstance(affine, WrittenOut) or not all(block.weight.all() for block in affine.blocks):
                return f"speaks of fully connected layers; some weights of layer {number + 1} are zero"
        return None
    for node in network.nodes:
        if not isinstance(in_floats(node.op), _PLAIN):
            return f"speaks of fully connected layers; {node.name} is {type(node.op).__name__}"
    return None


def _why_too_narrow(widths: tuple[int, ...], dim: int) -> str | None:
    if not widths:
        return "speaks of one layer or more; there is none"
    if min(widths) < dim:
        return f"needs layers of at least {how_many(dim, 'gate')}; the narrowest has {min(widths)}"
    return None


def _written(value: int) -> int | None:
    return value if value.bit_length() <= _MOST_BITS else None
