"""How far the decision boundary moves while a network is trained.

Both networks are laid side by side, with gates that decide the class of each (`program/derive/argmax.py`), and
unfolded: on every part both classes are fixed. So the volume of all inputs that went from one class to another is a
sum over parts, none is missing, and nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.apart import apart
from polyfold._base.clock import Report, running, tick
from polyfold._base.evidence import Evidence, weaker
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, Ids
from polyfold.atlas.asked import bounded_cells, finite
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import evidence_of
from polyfold.domain.domain import DomainLike, resolve_domain
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, how_many
from polyfold.program.derive.argmax import with_classes
from polyfold.program.derive.side_by_side import side_by_side
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program
from polyfold.stats.classes import classes
from polyfold.stats.decision_boundary import decision_boundary
from polyfold.training.recording import Recording
from polyfold.training.snapshots import a_recording, in_turn, one_by_one

if TYPE_CHECKING:
    import pandas

_QUESTION = "how far the decision boundary moves"


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryMovement(Rows):
    """The decision boundary at n snapshots, and what it swept from each to the next, in the domain's parameters.

    `evidence` says what is known of the cells of all snapshots together; its digests are those of the first.

    Attributes
    ----------
    steps, snapshots : array of int, shape (n,)
        The numbers of the snapshots, and after how many steps each was taken.
    areas : array of float, shape (n, classes)
        The volume of each class.
    length : array of float, shape (n,)
        The measure of the boundary.
    flows : array of float, shape (n - 1, classes, classes)
        `flows[i, j, k]` is the volume of the inputs that are of class j at snapshot i and of class k at the next one.
    """

    steps: Ids
    snapshots: Ids
    areas: Array
    length: Array
    flows: Array

    def __len__(self) -> int:
        return len(self.flows)

    def __repr__(self) -> str:
        moves = how_many(len(self), "move")
        return f"BoundaryMovement: {moves}, {self.changed.sum():g} swept in all; {self.evidence}"

    @cached_property
    def changed(self) -> Array:
        """The volume of all inputs whose class changed (n - 1,)."""
        stayed = np.eye(self.flows.shape[1], dtype=bool)
        found: Array = np.where(stayed, 0.0, self.flows).sum(axis=(1, 2))
        return found

    @cached_property
    def shift(self) -> Array:
        """How far the boundary moved on average: what changed, by its mean measure before and after (n - 1,).

        NaN where there is no boundary on either side. A flat boundary that is moved by a distance has this shift.
        """
        mean = (self.length[:-1] + self.length[1:]) / 2
        found: Array = np.divide(self.changed, mean, out=np.full(len(mean), np.nan), where=mean > 0)
        return found

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "changed": self.changed, "shift": self.shift}

    def rows(self) -> dict[str, Any]:
        """One row per snapshot; what changed stands beside the later one."""
        columns: dict[str, Any] = {"snapshot": self.snapshots, "step": self.steps, "length": self.length}
        columns |= {f"area_{k}": self.areas[:, k] for k in range(self.areas.shape[1])}
        return columns | {name: np.append(np.nan, getattr(self, name)) for name in ("changed", "shift")}

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame, by the numbers of the snapshots."""
        return super().to_pandas().set_index("snapshot")


@question("training.boundary_movement")
def boundary_movement(
    recording: Recording,
    domain: DomainLike = None,
    *,
    threshold: float = 0.0,
    snapshots: Sequence[int] | None = None,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> BoundaryMovement:
    """How far the decision boundary moves on a bounded domain, from each snapshot to the next.

    Classes are those of `pf.stats.classes`: the largest output, or whether the only one exceeds the threshold.

    Parameters
    ----------
    recording : Recording
        From `pf.training.record` or `pf.training.open`.
    domain : DomainLike
        A bounded one.
    threshold : float
        With one output, class 1 is where it is larger.
    snapshots : list of int, optional
        The numbers of the snapshots, ascending; None for all.
    max_cells : int, optional
        LimitError if one pair of snapshots has more.
    max_seconds : float, optional
        The limit, as Ctrl-C: the first snapshots are kept; LimitError if there are not two.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    BoundaryMovement
        Volumes of the classes, the boundary's measure, and what it swept.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> layers = [(np.array([[1.0, 0.0]]), np.array([0.0]))]              # class 1 where x > 0
    >>> recorder = pf.training.record(layers)
    >>> layers[0][1][:] = -0.25                                           # ... where x > 0.25
    >>> recorder.step()
    >>> moved = pf.training.boundary_movement(recorder.recording, pf.box(-1, 1))
    >>> moved.changed.round(9).tolist(), moved.shift.round(9).tolist(), moved.flows[0].round(9).tolist()
    ([0.5], [0.25], [[2.0, 0.0], [0.5, 1.5]])
    """
    asked = in_turn(a_recording(recording, _QUESTION), snapshots, _QUESTION)
    programs: list[Program] = []
    areas: list[Array] = []
    length: list[float] = []
    flows: list[Array] = []
    known: list[Evidence] = []

    def look(snapshot: int) -> None:
        program = lower(recording.network(snapshot))
        where = resolve_domain(domain, program.input_dim)
        here: list[Evidence] = []

        def unfolded(some: Program) -> Atlas:
            found = _whole(unfold_program(some, where, max_cells=max_cells))
            here.append(evidence_of(found))
            return found

        atlas = unfolded(program)
        found = classes(atlas, threshold=threshold, max_cells=max_cells, max_seconds=running().limit)
        here.append(found.evidence)
        bounded_cells(found.atlas, found.atlas.ids(), _QUESTION)
        volumes = apart(found.atlas.volumes)
        measure = float(decision_boundary(found).measures.sum())
        if programs:
            flows.append(_flows(programs[-1], program, found.threshold, unfolded))
        areas.append(_sums(found.label, volumes, len(found)))
        length.append(measure)
        programs.append(program)
        known.extend(here)

    stopped_by = one_by_one(asked, 2, look)
    done = asked[: len(areas)]
    arrays = (np.array(areas), np.array(length), np.array(flows))
    for array in arrays:
        finite(array, _QUESTION)
    moved = BoundaryMovement(recording.steps[done], done, *arrays)
    return answered(moved, reduce(weaker, known), stopped_by=stopped_by)


def _flows(a: Program, b: Program, threshold: float, unfolded: Callable[[Program], Atlas]) -> Array:
    """Volumes by the class before and after."""
    both, count = side_by_side(a, b), a.output_dim
    then = with_classes(both, threshold, range(count))
    now = with_classes(then.program, threshold, range(count, 2 * count))
    atlas = unfolded(now.program)
    signs = atlas.signs()
    classes = then.classes
    pair = then.winners(signs) * classes + now.winners(signs)
    return _sums(pair, apart(atlas.volumes), classes * classes).reshape(classes, classes)


def _sums(label: Ids, volumes: Array, count: int) -> Array:
    found = np.zeros(count)
    np.add.at(found, label, volumes)
    return found


def _whole(atlas: Atlas) -> Atlas:
    if not atlas.complete:
        tick()
        stopped = atlas.certificate.stopped_by
        raise LimitError(f"{_QUESTION}: there are more than {len(atlas):,} cells; {stopped} stopped the search")
    return atlas
