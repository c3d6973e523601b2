"""The shallow network in rational arithmetic, to the letter: which pieces pass at a point, and what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from flint import fmpq

from polyfold.atlas.atlas import Atlas
from polyfold.atlas.geometry.cell_maps import ExactMaps
from polyfold.domain.points import contains_exactly
from polyfold.errors import DomainError, NetworkError, PolyfoldError, ShapeError, how_many
from polyfold.exact.rational import rational
from polyfold.network.graph import Network
from polyfold.program.exact_program import from_program
from polyfold.program.passes.bounded_layers import over_parameters
from polyfold.program.to_network import to_network
from polyfold.rewrite.shallow.hyperplanes import ExactHyperplanes

if TYPE_CHECKING:
    from polyfold.rewrite.shallow.network import Shallow


class ExactPieces(Protocol):
    """What the floats of a shallow network stand for."""

    def hyperplane(self, number: int) -> Sequence[fmpq]:
        """(h, c) of a hyperplane h . x = c, up to a positive factor."""
        ...

    def map(self, piece: int) -> Sequence[fmpq]:
        """The slopes and the constant of every output, one output after the other."""
        ...

    def network(self) -> Network:
        """The network whose function they are, if there is one."""
        ...


@dataclass(frozen=True, eq=False)
class PiecesOfAnAtlas:
    """Hyperplanes and maps as an atlas's network has them."""

    hyperplanes: ExactHyperplanes
    maps: ExactMaps
    atlas: Atlas

    @classmethod
    def of(cls, atlas: Atlas, hyperplanes: ExactHyperplanes) -> PiecesOfAnAtlas:
        return cls(hyperplanes, ExactMaps(atlas), atlas)

    def hyperplane(self, number: int) -> Sequence[fmpq]:
        return [fmpq(x) for x in self.hyperplanes[number]]

    def map(self, piece: int) -> Sequence[fmpq]:
        return self.maps[piece]

    def network(self) -> Network:
        return network_over(self.atlas)


@dataclass(frozen=True, eq=False)
class GivenPieces:
    """Hyperplanes and maps as somebody gave them."""

    hyperplanes: Sequence[Sequence[fmpq]]
    maps: Sequence[Sequence[fmpq]]

    def hyperplane(self, number: int) -> Sequence[fmpq]:
        return self.hyperplanes[number]

    def map(self, piece: int) -> Sequence[fmpq]:
        return self.maps[piece]

    def network(self) -> Network:
        raise no_network("given")


def network_over(atlas: Atlas) -> Network:
    """An atlas's network, on a slice as a function of its parameters."""
    return to_network(over_parameters(from_program(atlas.program), atlas.domain))


def no_network(what_happened: str) -> NetworkError:
    """Why pieces are no source."""
    return NetworkError(
        f"the pieces of this shallow network were {what_happened}, so that no ReLU network is known whose function "
        "they are: call it, or take the network that they came from"
    )


@dataclass(frozen=True, eq=False)
class ExactValue:
    """The piece that passes at a point, and the outputs there."""

    piece: int
    outputs: tuple[Fraction, ...]


def value_at(shallow: Shallow, point: Any) -> ExactValue:
    """The network at one point of floats, fractions or integers."""
    x = _point(shallow, point)
    beyond = []
    for number in range(len(shallow.c)):
        *h, c = shallow.exact.hyperplane(number)
        beyond.append(sum((a * b for a, b in zip(h, x, strict=True)), -c))
    passing = [
        piece
        for piece in range(len(shallow))
        if all(
            (beyond[shallow.condition[i]] > 0) == bool(shallow.is_open[i])
            for i in range(shallow.piece_start[piece], shallow.piece_start[piece + 1])
        )
    ]
    if not passing and not contains_exactly(shallow.domain, x):
        raise DomainError(f"the point {list(point)} lies outside the domain, {shallow.domain.describe()}")
    if len(passing) != 1:
        what = f"pieces {passing} all pass" if passing else "no piece passes"
        raise PolyfoldError(f"{what} at {list(point)}: pieces were given with a tolerance, and that is within it")
    numbers = shallow.exact.map(passing[0])
    size = shallow.inputs + 1
    outputs = []
    for first in range(0, len(numbers), size):
        *slopes, constant = numbers[first : first + size]
        value = sum((a * b for a, b in zip(slopes, x, strict=True)), constant)
        outputs.append(Fraction(int(value.p), int(value.q)))
    return ExactValue(passing[0], tuple(outputs))


def _point(shallow: Shallow, point: Any) -> list[fmpq]:
    try:
        x = [as_rational(value) for value in point]
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"a point is a list of finite numbers; this is {point!r}") from None
    if len(x) != shallow.inputs:
        raise ShapeError(f"a point has {how_many(shallow.inputs, 'number')}; this one has {len(x)}")
    return x


def as_rational(value: Any) -> fmpq:
    """A float, an integer or a fraction as the rational that it is."""
    return fmpq(value.numerator, value.denominator) if isinstance(value, Fraction | int) else rational(float(value))


def vanishes_on(change: Sequence[fmpq], hyperplane: Sequence[fmpq]) -> bool:
    """Whether an affine function (slopes, constant) is zero all over a hyperplane (h, c): a multiple of h . x - c."""
    *h, c = hyperplane
    k = next(i for i, x in enumerate(h) if x)
    factor = change[k] / h[k]
    return all(a == factor * b for a, b in zip(change, [*h, -c], strict=True))
