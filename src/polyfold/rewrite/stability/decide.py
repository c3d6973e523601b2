"""stability: which gates are always on, always off, or switch, on a domain. The cheapest proofs first.

Interval arithmetic; linear bounds; points, of which two signs settle a gate; all cells, if there are few; then boxes
cut smaller in few dimensions, and linear programs with gates cut in two in many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from polyfold._base.chunks import in_chunks
from polyfold._base.clock import OutOfTimeError, Report, running, share, tick, unwatched
from polyfold._base.question import question
from polyfold._base.result import answered
from polyfold._base.types import Array
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.evidence import proof_without_atlas
from polyfold.domain.domain import DomainLike
from polyfold.engine.bounds.bounded_domain import BoundedDomain, place_of
from polyfold.engine.bounds.relaxation import Region
from polyfold.engine.bounds.source_ranges import parameter_range
from polyfold.engine.source import SourceLike, domain_of
from polyfold.errors import LimitError, PolyfoldError
from polyfold.network.graph import Network
from polyfold.network.load import load
from polyfold.program.coefficients import coefficients
from polyfold.program.exact_program import ExactProgram, from_program, lower_exactly
from polyfold.program.lower.lower import lower
from polyfold.program.passes.bounded_layers import in_floats, over_parameters
from polyfold.program.passes.intervals import ranges
from polyfold.program.passes.linear_bounds import whole_box
from polyfold.program.program import Program
from polyfold.rewrite.stability.box_search import cut_boxes
from polyfold.rewrite.stability.cell_search import list_cells
from polyfold.rewrite.stability.claims import Claim, Ledger
from polyfold.rewrite.stability.program_search import branch
from polyfold.rewrite.stability.result import Behaviour, Stability
from polyfold.rewrite.stability.touching import settle_touching

# Coefficients that are written as rationals.
MOST_RATIONALS = 4_000_000
# Points at which signs are looked at.
_POINTS = 4096
# All cells are tried up to so many dimensions, cells and parts of the time.
_CELL_DIMENSIONS, _MOST_CELLS, _PART_FOR_CELLS, _SECONDS_FOR_CELLS = 8, 200_000, 1 / 4, 10.0
# Boxes are cut in up to so many dimensions.
_BOX_DIMENSIONS = 8
# Of what a stage has time for, so much goes to boxes before linear programs are tried.
_PART_FOR_BOXES = 0.75
# How far from a point inside to look on domains without an end.
_FAR = 1000.0
# Numbers in the arrays of points whose signs are looked at together.
_NUMBERS = 1 << 21
# Linear programs for one claim.
_MOST_PROGRAMS = 2_000


@question("rewrite.stability")
def stability(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    start: Stability | None = None,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Stability:
    """Which gates of a network are always on, always off, or switch, on a domain.

    "on", "off" and "switches" are proved. What is not settled in time, or before an interrupt (Ctrl-C), is "undecided".

    Parameters
    ----------
    source : SourceLike
        A model.
    domain : DomainLike, optional
        Where to look: all of R^d, or a box, a polytope or a slice; an atlas has its own.
    start : Stability, optional
        What an earlier call found on the same network and domain; it goes on from there.
    max_seconds : float, optional
        The limit; gates that are not settled by then are "undecided".
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events: how many gates are
        settled.

    Returns
    -------
    Stability
        A word for each gate, and what proves it.

    Examples
    --------
    >>> import polyfold as pf
    >>> found = pf.rewrite.stability([([[1.0], [1.0]], [3.0, 0.0]), ([[1.0, 1.0]], [0.0])], pf.box(-1, 1))
    >>> found.behaviour
    ('on', 'switches')
    """
    program = exactly(as_read(source))
    place = place_of(domain_of(source, domain, program.input_dim))
    return settled(program, place, start)


def as_read(source: SourceLike) -> Network | Program:
    """A source as somebody made it: a Network, or a program that is none."""
    if isinstance(source, Atlas):
        return source.program
    return source if isinstance(source, Program) else load(source)


def exactly(network: Network | Program) -> ExactProgram:
    """A network in rationals, unless it is too large for that."""
    lowered = network if isinstance(network, Program) else lower(network)
    size = coefficients(lowered)
    if size > MOST_RATIONALS:
        raise LimitError(
            f"the network has {size:,} coefficients once its layers are written out as matrices, and rationals are "
            f"used up to {MOST_RATIONALS:,}: take a smaller network or part of this one"
        )
    return from_program(network) if isinstance(network, Program) else lower_exactly(network)


def settled(program: ExactProgram, place: BoundedDomain, start: Stability | None = None) -> Stability:
    """The same for a program over a place, in the time that the running clock leaves."""
    stopped_by = None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        search = _Search(program, place)
        if start is not None:
            search.know(start)
        try:
            with running().noting_interrupts():
                search.run()
        except OutOfTimeError as error:
            stopped_by = error.stopped_by
        with unwatched():
            return search.result(stopped_by)


class _Search:
    """What is known so far, and what to try next."""

    def __init__(self, program: ExactProgram, place: BoundedDomain) -> None:
        self._given, self._program, self._place = program, over_parameters(program, place.domain), place
        self._layers = in_floats(self._program)
        self._low, self._high = parameter_range(place)
        nothing = [(np.full(layer.width, -np.inf), np.full(layer.width, np.inf)) for layer in self._layers.layers]
        self.ledger = Ledger(self._layers, nothing)

    def know(self, found: Stability) -> None:
        """What somebody has found before."""
        if not isinstance(found, Stability) or (found.network_digest, found.domain_digest) != self._digests:
            raise PolyfoldError("start= must be what pf.rewrite.stability found on the same network and domain")
        words = iter(zip(found.behaviour, found.proof, strict=True))
        for stage, layer in enumerate(self._layers.layers):
            for gate, (word, proof) in zip(range(layer.width), words, strict=False):
                if word in ("on", "off"):
                    self.ledger.prove(Claim(stage, gate, 1 if word == "on" else -1), proof)
                elif word == "switches":
                    self.ledger.positive[stage][gate] = self.ledger.negative[stage][gate] = True

    @property
    def _digests(self) -> tuple[str, str]:
        return self._given.digest, self._place.domain.digest

    def run(self) -> None:
        if not self._layers.layers:
            return
        tick()
        plain = ranges(self._layers, self._low, self._high)
        self.ledger.tighten(plain, "interval arithmetic")
        bounded = bool(np.isfinite(self._low).all() and np.isfinite(self._high).all())
        if bounded:
            sharper = whole_box(self._layers, self._low, self._high, self.ledger.ranges)
            self.ledger.tighten(sharper, "linear bounds over the domain")
        tick()
        settle_touching(self.ledger, self._program, self._low, self._high)
        points = self._points()
        widest = max(layer.width for layer in self._layers.layers)
        in_chunks(len(points), 8 * widest, lambda some: self.ledger.meet(points[some]), _NUMBERS)
        self._tell()
        if self.ledger.open() and self._place.domain.dim <= _CELL_DIMENSIONS and self._given.in_floats:
            seconds = min(running().left * _PART_FOR_CELLS, _SECONDS_FOR_CELLS)
            with share(seconds):
                list_cells(self.ledger, self._given, self._program, self._place.domain, _MOST_CELLS)
            tick()
        if bounded:
            self._cut()

    def _cut(self) -> None:
        """Stage by stage: what is known of a stage makes bounds of the next ones sharper."""
        few = self._place.domain.dim <= _BOX_DIMENSIONS
        region = Region(self._low, self._high, *self._rows)
        stages = sorted({claim.stage for claim in self.ledger.open()})
        for position, stage in enumerate(stages):
            shares = len(stages) - position
            if few:
                self._within(
                    running().left / shares * _PART_FOR_BOXES,
                    lambda stage=stage: cut_boxes(self.ledger, self._place, self._low, self._high, stage, self._tell),  # type: ignore[misc]
                )
            self._within(
                running().left / shares,
                lambda stage=stage: branch(self.ledger, self._place, region, stage, _MOST_PROGRAMS, self._tell),  # type: ignore[misc]
            )

    def _within(self, seconds: float, search: Callable[[], None]) -> None:
        """Let a search have so much time for a stage; what it gives up the next one may try."""
        self.ledger.given_up.clear()
        with share(seconds):
            search()
        tick()

    def _tell(self) -> None:
        ledger = self.ledger
        both = sum(int((on & off).sum()) for on, off in zip(ledger.positive, ledger.negative, strict=True))
        settled = both + len({(claim.stage, claim.gate) for claim in ledger.proofs})
        running().tell(settled, self._given.gates, "neurons settled")

    @property
    def _rows(self) -> tuple[Array, Array]:
        """The domain's rows over the parameters, but those that would have to be rounded; none of a box."""
        domain = self._place.domain
        if self._place.limits is not None:
            return np.zeros((0, domain.dim)), np.zeros(0)
        if domain.is_slice:
            return domain.parameter_rows, domain.parameter_offsets
        return (
            np.concatenate([domain.input_rows, domain.parameter_rows]),
            np.concatenate([domain.input_offsets, domain.parameter_offsets]),
        )

    def _points(self) -> Array:
        """Points of the domain: anywhere in its box, at the box's corners, and along all directions if it has none."""
        rng, dim = np.random.default_rng(0), self._place.domain.dim
        inside = self._place.inside.point[None]
        low = np.where(np.isfinite(self._low), self._low, inside[0] - _FAR)
        high = np.where(np.isfinite(self._high), self._high, inside[0] + _FAR)
        anywhere = low + rng.random((_POINTS, dim)) * (high - low)
        corners = np.where(rng.random((_POINTS // 4, dim)) < 0.5, low, high)
        near = inside + rng.standard_normal((_POINTS // 4, dim))
        points = np.clip(np.concatenate([inside, anywhere, corners, near]), low, high)
        kept: Array = points[self._place.contains(points)]
        return kept

    def result(self, stopped_by: str | None) -> Stability:
        behaviour: list[Behaviour] = []
        proofs = []
        for stage, layer in enumerate(self._layers.layers):
            for gate in range(layer.width):
                side = self.ledger.proved(stage, gate)
                both = self.ledger.positive[stage][gate] and self.ledger.negative[stage][gate]
                behaviour.append("on" if side > 0 else "off" if side < 0 else "switches" if both else "undecided")
                proofs.append(self.ledger.proofs[Claim(stage, gate, side)] if side else "")
        origins = tuple(origin for stage in self._given.stages for origin in stage.origins)
        found = Stability(tuple(behaviour), tuple(proofs), origins, *self._digests)
        if "undecided" not in behaviour:
            stopped_by = None
        words = "bounds, points and cells, as said for each gate"
        proof = proof_without_atlas(self._given, self._place.domain, words, stopped_by)
        return answered(found, proof, stopped_by=stopped_by)
