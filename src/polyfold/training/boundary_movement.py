"""How far the decision boundary moves while a network is trained.

Both networks are laid side by side, with gates that decide the class of each (`program/derive/argmax.py`), and
unfolded: on every part both classes are fixed. So the volume of all inputs that went from one class to another is a
sum over parts, none is missing, and nothing is sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from polyfold._base.evidence import Evidence, weaker
from polyfold._base.notebook import InNotebooks
from polyfold._base.progress import reporter
from polyfold.atlas.asked import bounded_cells, finite
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import Answer, evidence_of, resting_on
from polyfold.domain.domain import DomainLike, resolve_domain
from polyfold.engine.unfold import unfold_program
from polyfold.errors import LimitError, PolyfoldError, how_many
from polyfold.program.derive.argmax import with_classes
from polyfold.program.derive.side_by_side import side_by_side
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program
from polyfold.stats.classes import classes
from polyfold.stats.decision_boundary import decision_boundary
from polyfold.training.recording import Recording
from polyfold.training.snapshots import a_recording, in_turn

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

_QUESTION = "how far the decision boundary moves"


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryMovement(Answer, InNotebooks):
    """The decision boundary at n snapshots, and what it swept from each to the next, in the domain's parameters.

    `areas[i, k]` is the volume of class k and `length[i]` the measure of the boundary at snapshot `snapshots[i]`;
    `flows[i, j, k]` is the volume of the inputs that are of class j there and of class k at the next one. `evidence`
    says what is known of the cells of all snapshots together; its digests are those of the first.
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

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a row a snapshot; what changed stands beside the later one."""
        try:
            import pandas
        except ModuleNotFoundError:
            raise PolyfoldError("to_pandas() needs pandas: pip install 'polyfold[store]'") from None
        columns: dict[str, Any] = {"snapshot": self.snapshots, "step": self.steps, "length": self.length}
        columns |= {f"area_{k}": self.areas[:, k] for k in range(self.areas.shape[1])}
        for name in ("changed", "shift"):
            columns[name] = np.append(np.nan, getattr(self, name))
        return pandas.DataFrame(columns).set_index("snapshot")


def boundary_movement(
    recording: Recording,
    domain: DomainLike,
    *,
    threshold: float = 0.0,
    snapshots: Any = None,
    progress: bool | Callable[[int], None] = False,
    max_cells: int | None = None,
    max_seconds: float | None = None,
) -> BoundaryMovement:
    """How far the decision boundary moves on a bounded domain, from each snapshot to the next.

    Classes are those of `pf.stats.classes`: the largest output, or whether the only one exceeds the threshold. Limits
    are for one pair of snapshots; LimitError if one takes more.

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
    before: Program | None = None
    areas, length, flows = [], [], []
    known: list[Evidence] = []
    with reporter(progress, "snapshots") as report:
        for row, snapshot in enumerate(asked.tolist()):
            program = lower(recording.network(snapshot))
            where = resolve_domain(domain, program.input_dim)

            def unfolded(some: Program) -> Atlas:
                found = _whole(unfold_program(some, where, max_cells=max_cells, max_seconds=max_seconds))  # noqa: B023  # called at once
                known.append(evidence_of(found))
                return found

            atlas = unfolded(program)
            found = classes(atlas, threshold=threshold, max_cells=max_cells, max_seconds=max_seconds)
            known.append(found.evidence)
            bounded_cells(found.atlas, found.atlas.ids(), _QUESTION)
            areas.append(_sums(found.label, found.atlas.volumes(), len(found)))
            length.append(float(decision_boundary(found).measures.sum()))
            if before is not None:
                flows.append(_flows(before, program, found.threshold, unfolded))
            before = program
            report(row + 1)
    arrays = (np.array(areas), np.array(length), np.array(flows))
    for array in arrays:
        finite(array, _QUESTION)
    return resting_on(reduce(weaker, known), BoundaryMovement(recording.steps[asked], asked, *arrays))


def _flows(a: Program, b: Program, threshold: float, unfolded: Callable[[Program], Atlas]) -> Array:
    """Volumes by the class before and after."""
    both, count = side_by_side(a, b), a.output_dim
    then = with_classes(both, threshold, range(count))
    now = with_classes(then.program, threshold, range(count, 2 * count))
    atlas = unfolded(now.program)
    signs = atlas.signs()
    classes = then.classes
    pair = then.winners(signs) * classes + now.winners(signs)
    return _sums(pair, atlas.volumes(), classes * classes).reshape(classes, classes)


def _sums(label: Ids, volumes: Array, count: int) -> Array:
    found = np.zeros(count)
    np.add.at(found, label, volumes)
    return found


def _whole(atlas: Atlas) -> Atlas:
    if not atlas.complete:
        stopped = atlas.certificate.stopped_by
        if stopped == "interrupt":
            raise KeyboardInterrupt
        raise LimitError(f"{_QUESTION}: there are more than {len(atlas):,} cells; {stopped} stopped the search")
    return atlas
