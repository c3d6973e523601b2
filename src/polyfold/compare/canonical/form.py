"""The canonical form itself: what it holds, how it is written out, and its digest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from flint import fmpz

from polyfold._base.result import Result
from polyfold._base.types import Ids
from polyfold.atlas.atlas import Atlas
from polyfold.compare.canonical.flats import Row
from polyfold.compare.canonical.maps import DistinctMaps, Map
from polyfold.compare.canonical.pieces import Piece, canonical_pieces
from polyfold.errors import how_many
from polyfold.network.graph import Network
from polyfold.network.head import Head, behind

if TYPE_CHECKING:
    from polyfold.rewrite.shallow.network import Shallow

# What is digested begins with this: another way to write the same function down gets another name.
_FORMAT = "polyfold canonical form 1"
_SHOWN = 12


@dataclass(frozen=True)
class Support:
    """A set of full dimension in a flat, by its border, which is described in the same way, a dimension lower.

    at_infinity  how often the set contains the flat's last place: far out along (t^k, ..., t^2, t) in its k free
                 coordinates. In dimension 0: how often it contains the point.
    border       by hyperplane of the flat, in lexicographic order: where the set begins (counted 1) and where it ends
                 (counted -1) as one goes across to the side where the row is positive.

    Of a set every count is 0, 1 or -1 as a function on the border; sums of such sets may have others.
    """

    at_infinity: int
    border: tuple[tuple[Row, Support], ...] = ()

    def plain(self) -> list[Any]:
        """As nested lists."""
        return [self.at_infinity, [[_integers(row), part.plain()] for row, part in self.border]]


@dataclass(frozen=True)
class Jump:
    """Where on a hyperplane the map changes by one and the same amount.

    hyperplane  (a, b): primitive integers, the first non-zero one of a positive; the hyperplane is a . x + b = 0
    amount      one number per output: the map on the side a . x + b > 0 minus the other one is amount * (a . x + b)
    where       the part of the hyperplane
    facets      the facets of the atlas that make it up; not part of the form
    """

    hyperplane: Row
    amount: tuple[Fraction, ...]
    where: Support
    facets: tuple[int, ...] = field(compare=False, repr=False)


@dataclass(frozen=True, repr=False)
class Canonical(Result):
    """A piecewise-linear function on a domain, described so that nothing depends on the network behind it.

    inputs, outputs
    domain    the domain's own inequalities a . x + b >= 0, as primitive rows (a, b) in lexicographic order
    maps      the distinct maps: for each output its slopes and its constant; in lexicographic order
    jumps     where the map changes and by how much, by hyperplane and amount
    head      what the model does behind the function, which is then one of scores; None if nothing
    numbers   None, or a digest of the network's own numbers, if floats could not hold all coefficients that these lead
              to: maps and jumps are then those of a neighbour
    found     the atlas that the form was made from, and which cell has which map; not part of the form

    Two forms are equal if and only if they are of the same function on the same domain, with the same head behind it.
    Forms with `numbers` are equal only if these are the same, too: equal forms are still of the same function, but
    one function may have several. Made of an atlas, they are of the neighbour itself.
    """

    inputs: int
    outputs: int
    domain: tuple[Row, ...]
    maps: tuple[Map, ...]
    jumps: tuple[Jump, ...]
    found: DistinctMaps = field(compare=False)
    head: Head | None = None
    numbers: str | None = None

    def __repr__(self) -> str:
        return (
            f"Canonical: {how_many(len(self.maps), 'map')}, {how_many(len(self.hyperplanes), 'hyperplane')} between "
            f"them, {self.inputs} -> {self.outputs}{behind(self.head)}; digest {self.digest[:_SHOWN]}...; "
            f"{self.evidence}"
        )

    @property
    def atlas(self) -> Atlas:
        """The atlas that the form was made from."""
        return self.found.atlas

    @property
    def cells(self) -> list[Ids]:
        """The cells of the atlas that have each of the maps."""
        return self.found.cells

    @property
    def hyperplanes(self) -> tuple[Row, ...]:
        """The hyperplanes on which the map changes somewhere."""
        return tuple(dict.fromkeys(jump.hyperplane for jump in self.jumps))

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The domain in convex pieces with a map each, which depend on the function only, in lexicographic order."""
        return canonical_pieces(self.found)

    def shallow(self) -> Shallow:
        """The network of the pieces with three hidden layers: one and the same for all networks of the function.

        The order of its hyperplanes and pieces is lexicographic. The arrays are the floats nearest to exact numbers
        that depend on the function only; `exactly` evaluates these.
        """
        from polyfold.compare.canonical.network import network_of

        return network_of(self.found, self.pieces)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the form as JSON, 64 hexadecimal digits: the same for equal forms, and for no others known."""
        text = json.dumps(self.facts(), separators=(",", ":"), sort_keys=True)
        return sha256(text.encode("ascii")).hexdigest()

    def ask_instead(self) -> str:
        return "compare two forms with =="

    def __polyfold_network__(self) -> Network:
        from polyfold.rewrite.shallow.exactly import network_over

        return network_over(self.atlas)

    def facts(self) -> dict[str, Any]:
        """The form as plain lists, which the digest is of.

        Numbers other than counts are strings: integers, or fractions in lowest terms.
        """
        return {
            "format": _FORMAT,
            "inputs": self.inputs,
            "outputs": self.outputs,
            **({} if self.head is None else {"head": self.head.text}),
            **({} if self.numbers is None else {"numbers": self.numbers}),
            "domain": [_integers(row) for row in self.domain],
            "maps": [[[_fraction(x) for x in line] for line in lines] for lines in self.maps],
            "jumps": [
                {
                    "hyperplane": _integers(jump.hyperplane),
                    "amount": [_fraction(x) for x in jump.amount],
                    "where": jump.where.plain(),
                }
                for jump in self.jumps
            ],
        }


def support_of(counts: Mapping[tuple[Row, ...], int]) -> Support:
    """A support from the counts of its chains of hyperplanes, each in the flat of those before it.

    >>> support_of({(): 1, ((0, 1, 0),): 1, ((0, 2, 1),): 0})
    Support(at_infinity=1, border=(((0, 1, 0), Support(at_infinity=1, border=())),))
    """
    parts: dict[Row, dict[tuple[Row, ...], int]] = {}
    for chain, count in counts.items():
        if chain and count:
            parts.setdefault(chain[0], {})[chain[1:]] = count
    return Support(counts.get((), 0), tuple((row, support_of(parts[row])) for row in sorted(parts)))


def _integers(row: Row) -> list[str]:
    # Python refuses to write integers of very many digits; FLINT does not.
    return [str(fmpz(entry)) for entry in row]


def _fraction(number: Fraction) -> str:
    top = str(fmpz(number.numerator))
    return top if number.denominator == 1 else f"{top}/{fmpz(number.denominator)}"
