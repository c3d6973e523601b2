"""edit: change the linear models of some pieces of a shallow network, and see where it tears."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import fmpq

from polyfold._base.clock import Report, running, tick
from polyfold._base.question import question
from polyfold._base.result import Result, answered
from polyfold._base.types import ArrayLike, Ids
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.exact.rational import as_float
from polyfold.network.graph import Network
from polyfold.rewrite.shallow.exactly import ExactPieces, as_rational, no_network, vanishes_on
from polyfold.rewrite.shallow.network import Shallow
from polyfold.rewrite.shallow.tiling import Row, Top, largest

Map = tuple[fmpq, ...]


@dataclass(frozen=True)
class Jump:
    """A facet where two pieces no longer meet: which, by how much each output jumps at most, and where that is.

    A jump that grows for ever along the facet is infinite; `point` is then a place where there is one.
    """

    pieces: tuple[int, int]
    hyperplane: int
    size: tuple[float, ...]
    point: tuple[float, ...]

    @property
    def largest(self) -> float:
        return max(self.size)


@dataclass(frozen=True, eq=False, repr=False)
class Edit(Result):
    """The network with its pieces changed, and every facet where it is not continuous, from earlier edits too.

    Attributes
    ----------
    network : Shallow
        The changed network.
    pieces : array of int
        The pieces that were changed.
    jumps : tuple of Jump
        The facets where it tears.
    """

    network: Shallow
    pieces: Ids
    jumps: tuple[Jump, ...]

    def __polyfold_network__(self) -> Network:
        return self.network.__polyfold_network__()

    def ask_instead(self) -> str:
        return "found.continuous says whether all pieces still meet"

    def facts(self) -> dict[str, Any]:
        return {
            "pieces": self.pieces,
            "continuous": self.continuous,
            "largest": self.largest,
            "jumps": [
                {"pieces": jump.pieces, "hyperplane": jump.hyperplane, "size": jump.size, "point": jump.point}
                for jump in self.jumps
            ],
        }

    def __repr__(self) -> str:
        tears = (
            f"{how_many(len(self.jumps), 'facet')} torn, by {self.largest:.6g} at most" if self.jumps else "continuous"
        )
        return f"Edit of {how_many(len(self.pieces), 'piece')}: {tears}; {self.evidence}"

    @property
    def continuous(self) -> bool:
        """Whether all pieces still meet their neighbours."""
        return not self.jumps

    @property
    def largest(self) -> float:
        """The largest jump of any output."""
        return max((jump.largest for jump in self.jumps), default=0.0)


@question("rewrite.edit")
def edit(
    source: Shallow | Edit,
    *,
    region: ArrayLike,
    map: tuple[ArrayLike, ArrayLike] | None = None,
    towards: tuple[ArrayLike, ArrayLike] | None = None,
    share: float | None = None,
    freeze: bool = False,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Edit:
    """Replace, interpolate or freeze the linear models of chosen pieces; the network is a shallow one again.

    Parameters
    ----------
    source : Shallow or Edit
        What `pf.rewrite.shallow` or `pf.rewrite.from_pieces` made, or an earlier edit of it.
    region : array of int or bool
        Numbers of pieces, which are the atlas's cells, or a mask over all pieces. `pf.regions(atlas).cells[k]` are
        those of a linear region.
    map : tuple (A, c), shapes (m, n) and (m,), optional
        The pieces get the map A x + c.
    towards : tuple (A, c), shapes (m, n) and (m,), optional
        The pieces get (1 - share) times their own map plus `share` times this one.
    share : float, optional
        The part of `towards`; a half unless given.
    freeze : bool
        Whether fine-tuning the network's torch module leaves these pieces' maps alone.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice to find all jumps.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many facets were
        looked at.

    Returns
    -------
    Edit
        The changed network, and where it tears.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> network = pf.rewrite.shallow([(np.eye(1), np.zeros(1)), (np.ones((1, 1)), np.zeros(1))], pf.box(-1, 1))
    >>> positive = network.piece([[0.5]])
    >>> doubled = pf.rewrite.edit(network, region=positive, map=([[2.0]], [0.0]))
    >>> doubled.network([[0.5]]).tolist(), doubled.continuous
    ([[1.0]], True)
    >>> pf.rewrite.edit(network, region=positive, map=([[2.0]], [0.25])).largest
    0.25
    """
    shallow = source.network if isinstance(source, Edit) else source
    if not isinstance(shallow, Shallow):
        raise PolyfoldError(f"edit takes a shallow network, which pf.rewrite.shallow makes; this is {shallow!r}")
    pieces = _pieces(shallow, region)
    if share is not None and towards is None:
        raise PolyfoldError(f"share={share!r} means nothing without towards=(A, c)")
    if shallow.sides is None and (map is not None or towards is not None):
        raise PolyfoldError(
            "the network's pieces were given with a tolerance, and it is not known which of them meet: use exact ones"
        )
    if map is not None and towards is not None:
        raise PolyfoldError("map= replaces the maps and towards= mixes them: give one of the two")
    if map is None and towards is None and not freeze:
        raise PolyfoldError("nothing to do: give map=(A, c), towards=(A, c) or freeze=True")
    changed = shallow
    if map is not None:
        changed = _with_maps(shallow, dict.fromkeys(pieces.tolist(), _map(shallow, "map", map)))
    if towards is not None:
        changed = _with_maps(
            shallow, _mixed(shallow, pieces, _map(shallow, "towards", towards), 0.5 if share is None else share)
        )
    if freeze:
        frozen = changed.frozen.copy()
        frozen[pieces] = True
        changed = answered(replace(changed, frozen=frozen), changed.evidence)
    return answered(Edit(changed, pieces, tuple(_jumps(changed))), changed.evidence)


@dataclass(frozen=True, eq=False)
class EditedPieces:
    """What a network stands for, some of its maps replaced."""

    before: ExactPieces
    maps: Mapping[int, Map]

    @property
    def changed(self) -> set[int]:
        """All pieces that any edit has changed."""
        return {*self.maps, *(self.before.changed if isinstance(self.before, EditedPieces) else ())}

    def hyperplane(self, number: int) -> Sequence[fmpq]:
        return self.before.hyperplane(number)

    def map(self, piece: int) -> Sequence[fmpq]:
        return self.maps[piece] if piece in self.maps else self.before.map(piece)

    def network(self) -> Network:
        raise no_network("edited")


def _pieces(shallow: Shallow, region: Any) -> Ids:
    ids = np.atleast_1d(np.asarray(region))
    if ids.dtype == bool and ids.shape == (len(shallow),):
        ids = np.flatnonzero(ids)
    if ids.ndim != 1 or not len(ids) or not np.issubdtype(ids.dtype, np.integer):
        raise ShapeError(f"region={region!r} must be one or more numbers of pieces, or a mask of {len(shallow)}")
    if ids.min() < 0 or ids.max() >= len(shallow):
        bad = int(ids[(ids < 0) | (ids >= len(shallow))][0])
        raise IndexError(f"there is no piece {bad}: the network has {len(shallow)}")
    return np.unique(ids).astype(np.int64)


def _map(shallow: Shallow, name: str, given: Any) -> Map:
    """(A, c) in the order in which exact maps are kept."""
    try:
        A, c = (np.asarray(array, dtype=object) for array in given)
        numbers = tuple(as_rational(x) for line in np.column_stack([A, c]).tolist() for x in line)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"{name} must be (A, c) with finite numbers; it is {given!r}") from None
    if A.shape != (shallow.outputs, shallow.inputs) or c.shape != (shallow.outputs,):
        raise ShapeError(
            f"{name} must have A of shape {(shallow.outputs, shallow.inputs)} and c of shape {(shallow.outputs,)}; "
            f"they have {A.shape} and {c.shape}"
        )
    return numbers


def _mixed(shallow: Shallow, pieces: Ids, target: Map, share: Any) -> dict[int, Map]:
    try:
        part = as_rational(share)
    except (TypeError, ValueError, OverflowError):
        raise PolyfoldError(f"share={share!r} must be a finite number; 0 changes nothing, 1 is the other map") from None
    return {
        piece: tuple((1 - part) * a + part * b for a, b in zip(shallow.exact.map(piece), target, strict=True))
        for piece in pieces.tolist()
    }


def _with_maps(shallow: Shallow, maps: dict[int, Map]) -> Shallow:
    alpha, beta = shallow.alpha.copy(), shallow.beta.copy()
    for piece, numbers in maps.items():
        lines = np.array([as_float(x) for x in numbers]).reshape(shallow.outputs, shallow.inputs + 1)
        alpha[piece], beta[piece] = lines[:, :-1], lines[:, -1]
    return replace(shallow, alpha=alpha, beta=beta, exact=EditedPieces(shallow.exact, maps))


def _jumps(shallow: Shallow) -> Iterator[Jump]:
    """The torn facets, in the order of their hyperplanes. Facets between pieces that nobody changed hold."""
    if shallow.sides is None or not isinstance(shallow.exact, EditedPieces):
        return
    changed = sorted(shallow.exact.changed)
    concerned = np.isin(shallow.sides[:, 1], changed) | np.isin(shallow.sides[:, 2], changed)
    looked_at = sorted(shallow.sides[concerned].tolist())
    for number, (hyperplane, near, far) in enumerate(looked_at):
        tick()
        running().tell(number, len(looked_at), "facets")
        change = [a - b for a, b in zip(shallow.exact.map(near), shallow.exact.map(far), strict=True)]
        *h, c = shallow.exact.hyperplane(hyperplane)
        lines = [change[k : k + len(h) + 1] for k in range(0, len(change), len(h) + 1)]
        if all(vanishes_on(line, (*h, c)) for line in lines):
            continue
        jump = _largest_jump(shallow, hyperplane, near, far, lines)
        if jump is not None:
            yield jump


def _largest_jump(shallow: Shallow, hyperplane: int, near: int, far: int, lines: list[list[fmpq]]) -> Jump | None:
    rows: list[Row] = []
    for piece in (near, far):
        for i in range(shallow.piece_start[piece], shallow.piece_start[piece + 1]):
            sign = -1 if shallow.is_open[i] else 1
            rows.append(tuple(sign * x for x in shallow.exact.hyperplane(int(shallow.condition[i]))))
    tops: list[list[Top]] = []
    for line in lines:
        both = (largest([sign * x for x in line[:-1]], sign * line[-1], rows) for sign in (1, -1))
        tops.append([top for top in both if top is not None])
    if all(top.value is not None and top.value <= 0 for both in tops for top in both):
        return None
    worst = max((top for both in tops for top in both), key=_size)
    sizes = tuple(max(0.0, *map(_size, both)) for both in tops)
    return Jump((near, far), hyperplane, sizes, tuple(as_float(x) for x in worst.point))


def _size(top: Top) -> float:
    return float("inf") if top.value is None else as_float(top.value)
