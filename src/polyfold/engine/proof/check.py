"""Looking an atlas over again, by other means than those that made it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from flint import fmpq

from polyfold import _core as core
from polyfold._base.clock import OutOfTimeError, Report, running, tick
from polyfold._base.question import question
from polyfold._base.types import Array, Flags, Ids
from polyfold._base.when_read import replaced
from polyfold.atlas.atlas import Atlas, vouched
from polyfold.atlas.certificate import CHANGED, OF_THESE_ARRAYS, SEEN, Certificate, Check, sealed
from polyfold.atlas.core_problem import core_problem, stays_structured
from polyfold.atlas.digest import arrays_digest
from polyfold.atlas.geometry.domain_volume import domain_volume
from polyfold.atlas.geometry.generators import find_measures
from polyfold.atlas.geometry.halfspaces import met_signs, wall_rows
from polyfold.atlas.geometry.locate import vanishing
from polyfold.atlas.in_few_coordinates import in_few_coordinates
from polyfold.atlas.patterns import pack
from polyfold.domain.domain import DomainLike
from polyfold.domain.points import bounded_lift, contains, contains_exactly, jets_around
from polyfold.engine.slices.checks import check_sum
from polyfold.engine.slices.exact import ExactSlice
from polyfold.engine.slices.witnesses import check_slice_witnesses
from polyfold.engine.source import SourceLike
from polyfold.errors import how_many
from polyfold.exact.rational import as_float
from polyfold.exact.tolerances import CONTINUITY
from polyfold.program.passes.beyond_floats import to_unit_size
from polyfold.program.passes.bounded import bounded_forward
from polyfold.program.passes.jets import has_short_jets, sizes_of_terms
from polyfold.program.passes.pulled_back import gate_forms, support
from polyfold.program.passes.rationals import RationalProgram
from polyfold.program.passes.single_gates import ExactGates, TooMuchError, exact_gates

# So that between two looks at the clock there are milliseconds.
_CHUNK = 1 << 12
_FLOATS = 1 << 22
_IN_CORE = 1 << 16
_EXACTLY_IN_CORE = 1 << 8

# Up to here the vertices of all cells, and their faces, can be listed in a time comparable to the engine's.
_FEW_VERTICES = 6


def quick_checks(atlas: Atlas, *more: Check, exact: ExactSlice | None = None) -> Atlas:
    """What every run looks at: do the facets pair up, and do the witnesses have their patterns? And more.

    `exact` decides what floats cannot on lines and planes through large programs, and knows when time is over. Where it
    is over before all was looked at, or an interrupt comes, nothing more than before is known of the atlas.
    """
    clock = running()
    try:
        with clock.noting_interrupts():
            checks = []
            for look in (check_pairing, check_distinct, lambda atlas: check_witnesses(atlas, exact)):
                clock.check()
                checks.append(look(atlas))
    except OutOfTimeError:
        return atlas
    return vouched(atlas, _graded(atlas.certificate, (*checks, *more)))


@question("check")
def check(
    source: SourceLike,
    domain: DomainLike = None,
    *,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Report = False,
) -> Certificate:
    """Look an atlas over: facets, maps across them, witnesses, volumes, the Euler characteristic, and its digests.

    It looks at what every run looks at, and more, and whether the arrays are still those that were found. What needs
    the vertices of all cells (facets, volumes, Euler) is looked at up to six dimensions.

    Parameters
    ----------
    source : SourceLike
        An atlas; anything else is unfolded first.
    domain : DomainLike, optional
        Where to look; an atlas has its own.
    max_seconds : float, optional
        Stop after so long; a check then fails that says so, and the verdict is unknown unless another one has failed.
    threads : int, optional
        How many to unfold with (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Certificate
        With the outcome of every check. Its level is "checked" if all of them passed, and "counted" if one did not. An
        atlas whose arrays were changed by however little is not "checked": whether it is right is for `pf.certify` to
        prove.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))], pf.box(-1, 1))
    >>> pf.check(atlas).level
    'checked'
    """
    # Imported here because unfolding looks its cells over with what is in this file.
    from polyfold.engine.unfold import as_atlas

    atlas, clock = as_atlas(source, domain, threads=threads, any_cells=True), running()
    checks: list[Check] = []
    try:
        for seen in _looked_at(atlas):
            checks.append(seen)
            clock.tell(len(checks), what="checks")
            clock.check()
        digest = arrays_digest(atlas, atlas.certificate.threads)
        checks.append(check_arrays(atlas, digest))
    except OutOfTimeError:
        checks.append(Check(SEEN, False, f"{clock.limit_in_words} was over after {how_many(len(checks), 'check')}"))
        digest = atlas.arrays_digest
    graded = _graded(atlas.certificate, tuple(checks))
    # That the engine came to its end is not looked at again: if only a file says so, it still does.
    return sealed(graded, atlas.program, digest, recorded=atlas.certificate.source)


def _looked_at(atlas: Atlas) -> Iterator[Check]:
    """The checks, one after the other."""
    passed = True
    for look in (check_pairing, check_distinct, check_witnesses):
        seen = look(atlas)
        passed = passed and seen.passed
        yield seen
    # The others walk to the cells by their patterns, which makes sense only if these are right.
    if passed:
        yield check_continuity(atlas)
        if atlas.dim <= _FEW_VERTICES:
            yield from _vertex_checks(atlas)


def _vertex_checks(atlas: Atlas) -> Iterator[Check]:
    """What needs all vertices of all cells."""
    by_vertices = atlas.by_facets
    if not by_vertices and atlas.program.exact_matrices is None:
        # The vertices of rounded matrices are those of other cells.
        return
    if by_vertices:
        # Without the core, vertices are made from the facets listed: there is nothing to compare these with.
        volumes = atlas.volumes()
    else:
        # One walk to all cells tells both, from the arrays as they are now.
        found = find_measures(atlas.program, atlas.domain, atlas.patterns, atlas.certificate.threads)
        volumes = found.volumes
        yield check_facets(atlas, found.facets)
    # A volume that float64 cannot hold (zero or infinite by its exponent) has nothing to be compared with.
    if not atlas.certificate.cut_short and atlas.bounded.all() and 0 < domain_volume(atlas.domain) < np.inf:
        yield check_volumes(atlas, volumes)
    if atlas.complete and (atlas.bounded.all() or not atlas.domain.rows):
        yield check_euler(atlas)


def _graded(certificate: Certificate, checks: tuple[Check, ...]) -> Certificate:
    passed = all(item.passed for item in checks)
    return replaced(certificate, level="checked" if passed and certificate.complete else "counted", checks=checks)


# -- the checks


def check_arrays(atlas: Atlas, digest: str) -> Check:
    """The arrays, with this digest, are those that the certificate was made for, and so are network and domain."""
    certificate = atlas.certificate
    if certificate.stopped_by == CHANGED:
        return Check(OF_THESE_ARRAYS, False, "they were changed after it was made")
    if not certificate.arrays_digest:  # a limit stopped the engine, and nothing is claimed of what it found
        return Check(OF_THESE_ARRAYS, True, f"arrays {digest[:12]}, of which it claims nothing")
    # A copy has not remembered any digest yet.
    found = {"network": replace(atlas.program).digest, "domain": atlas.domain.digest, "arrays": digest}
    wrong = [
        f"it was made for {name} {claimed[:12]}, and this is {found[name][:12]}"
        for name in found
        if (claimed := getattr(certificate, f"{name}_digest")) != found[name]
    ]
    return Check(OF_THESE_ARRAYS, not wrong, "; ".join(wrong) or f"arrays {digest[:12]}")


def check_pairing(atlas: Atlas) -> Check:
    """Every inner facet leads to a cell that leads back, and exactly the facet's gates may differ between the two.

    Gates that are idle on either side may differ as well.
    """
    inner, unexplored, one_way, wrong = core.count_pairing(
        np.ascontiguousarray(atlas.patterns),
        atlas.gates,
        atlas.domain.rows,
        atlas.facet_start,
        atlas.facet_wall,
        atlas.neighbour,
        atlas.shared_facet,
        atlas.shared_wall,
        atlas.certificate.threads,
    )
    if atlas.of_function:
        wrong = _between_wrong_winners(atlas)
    return Check(
        "facets pair up",
        one_way == 0 and wrong == 0 and (unexplored == 0 or atlas.certificate.cut_short),
        f"{inner // 2:,} inner, {unexplored:,} open, {one_way:,} one-way, {wrong:,} between wrong patterns",
    )


def _between_wrong_winners(atlas: Atlas) -> int:
    """Facets between cells that differ in no gate, or in one that has a say on both sides and is no wall of theirs."""
    pools, owner = atlas.program.pools, atlas.facet_owner
    inner, wrong = np.flatnonzero(atlas.neighbour >= 0), 0
    for part in _chunks(len(inner), 8 * atlas.gates):
        facets = inner[part]
        here, there = atlas.signs(owner[facets]), atlas.signs(atlas.neighbour[facets])
        differ = (here != there) & ~pools.idle(here) & ~pools.idle(there)
        some = differ.any(axis=1)
        differ[np.arange(len(facets)), atlas.facet_wall[facets]] = False
        shared = np.isin(atlas.shared_facet, facets)
        at = np.searchsorted(facets, atlas.shared_facet[shared])
        inside = atlas.shared_wall[shared] < atlas.gates
        differ[at[inside], atlas.shared_wall[shared][inside]] = False
        wrong += int((~some | differ.any(axis=1)).sum())
    return wrong


def check_distinct(atlas: Atlas) -> Check:
    """No pattern is listed twice."""
    # In the engine's order equal patterns would be neighbours; only another order has to be sorted.
    repeated = atlas.index.repeated if core.count_disorder(np.ascontiguousarray(atlas.patterns)) else 0
    return Check("patterns differ", repeated == 0, f"{repeated:,} repeated")


def check_witnesses(atlas: Atlas, exact: ExactSlice | None = None) -> Check:
    """Every witness lies strictly inside the domain and inside its cell: a gate is zero there only if it vanishes
    on the whole cell. Proved."""
    if atlas.by_facets:
        return check_slice_witnesses(atlas, exact)
    if stays_structured(atlas.program):
        return _check_witnesses_in_floats(atlas)
    atlas = in_few_coordinates(atlas)
    in_floats, with_integers = _proved_by_core(atlas)
    left = np.flatnonzero(~in_floats & ~with_integers)
    # What is left may have witnesses that are no floats, or be beyond the core's matrices.
    by_floats, by_integers, unsure = int(in_floats.sum()), int(with_integers.sum()), []
    for part in _chunks(len(left)):
        cells = left[part]
        passed = bounded_forward(atlas.program, bounded_lift(atlas.domain, atlas.witnesses[cells]))
        right = (pack(passed.pattern) == atlas.patterns[cells]).all(axis=1) & passed.certain.all(axis=1)
        right &= contains(atlas.domain, atlas.witnesses[cells], strictly=True)
        right[right] = _zeros_everywhere(atlas, cells[right], passed.zero[right])
        by_floats += int(right.sum())
        unsure += cells[~right].tolist()
    wrong = 0
    if unsure:
        rationals = RationalProgram(atlas.program)
        for cell in unsure:
            tick()
            wrong += not _inside_exactly(atlas, rationals, cell)
    return Check(
        "witnesses have their patterns",
        wrong == 0,
        f"{by_floats:,} proved in floats, {by_integers:,} with integers, {len(unsure) - wrong:,} in rationals, "
        f"{wrong:,} wrong",
    )


def _proved_by_core(atlas: Atlas) -> tuple[Flags, Flags]:
    """Cells whose witnesses the core proves in floats, and those for which it needs integers here and there; none
    where it would read rounded matrices."""
    proved, exactly = np.zeros((2, len(atlas)), dtype=bool)
    if atlas.program.exact_matrices is None:
        return proved, exactly
    problem, threads = core_problem(atlas.program, atlas.domain), atlas.certificate.threads
    patterns, witnesses = np.ascontiguousarray(atlas.patterns), np.ascontiguousarray(atlas.witnesses)
    for first in range(0, len(atlas), _IN_CORE):
        tick()
        part = slice(first, first + _IN_CORE)
        proved[part] = core.prove_witnesses(problem, patterns[part], witnesses[part], threads) != 0
    # What floats leave may have gates that vanish on the whole cell, or need tighter bounds.
    left = np.flatnonzero(~proved)
    for first in range(0, len(left), _EXACTLY_IN_CORE):
        tick()
        some = left[first : first + _EXACTLY_IN_CORE]
        exactly[some] = core.prove_witnesses_exactly(problem, patterns[some], witnesses[some], threads) != 0
    return proved, exactly


def _check_witnesses_in_floats(atlas: Atlas) -> Check:
    """The same where matrices and rationals are out of reach: what floats cannot prove stays unproved."""
    proved = contains(atlas.domain, atlas.witnesses, strictly=True)
    # A pass keeps about eight numbers per gate.
    for part in _chunks(len(atlas), 8 * (atlas.gates + atlas.program.input_dim)):
        inputs = bounded_lift(atlas.domain, atlas.witnesses[part])
        passed = bounded_forward(atlas.program, inputs)
        proved[part] &= (pack(passed.pattern) == atlas.patterns[part]).all(axis=1) & passed.certain.all(axis=1)
        if passed.zero.any():
            proved[part] &= ~(passed.zero & ~vanishing(atlas.program, inputs)).any(axis=1)
    left = np.flatnonzero(~proved)
    named = f": cells {', '.join(map(str, left[:4].tolist()))}{' ...' * (len(left) > 4)}" if len(left) else ""
    return Check(
        "witnesses have their patterns",
        not len(left),
        f"{int(proved.sum()):,} proved in floats, {len(left):,} unproved{named}",
    )


def _zeros_everywhere(atlas: Atlas, cells: Ids, zero: Flags) -> Flags:
    """Whether the gates that are zero at a cell's witness are so all over the cell: no way to them has all factors."""
    fine = np.ones(len(cells), dtype=bool)
    rows, gates = np.nonzero(zero)
    if len(rows):
        linear, constant = gate_forms(support(atlas.program), atlas.signs(cells[rows]), gates)
        fine[rows[linear.any(axis=1) | (constant != 0)]] = False
    return fine


def _inside_exactly(atlas: Atlas, exact: RationalProgram, cell: int) -> bool:
    witness = atlas.rational_witness(cell)
    passed = exact.forward(jets_around(atlas.domain, witness))
    strictly = all(value != 0 or not any(slopes) for value, *slopes in passed.preactivations)
    same = bool((pack(np.array([passed.pattern], dtype=bool))[0] == atlas.patterns[cell]).all())
    return strictly and same and contains_exactly(atlas.domain, witness, strictly=True)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def check_continuity(atlas: Atlas) -> Check:
    """The maps of two neighbours differ by a multiple of the wall between them, so they agree on it: in floats, and
    in rationals where numbers are too large or too small for these."""
    atlas = in_few_coordinates(atlas)
    worst = 0.0
    exact = exact_gates(atlas.program, atlas.domain)
    owner = atlas.facet_owner
    inner = np.flatnonzero(atlas.neighbour > owner)
    # Two maps over the parameters; or over all inputs, and as much again while they are made.
    width = atlas.dim if has_short_jets(atlas.domain) else 2 * atlas.program.input_dim
    for part in _chunks(len(inner), 2 * atlas.outputs * width):
        facets = inner[part]
        here, there = owner[facets], atlas.neighbour[facets].astype(np.int64)
        walls = atlas.facet_wall[facets].astype(np.int64)
        a, b = to_unit_size(*wall_rows(atlas, here, walls, there))
        size = np.linalg.norm(a, axis=1)
        normal, offset = a / size[:, None], b / size
        # Cells have several facets: each map is made once.
        cells, items = np.unique(np.concatenate([here, there]), return_inverse=True)
        all_A, all_c = atlas.maps(cells, over="parameters")
        (A, other_A), (c, other_c) = np.split(all_A[items], 2), np.split(all_c[items], 2)
        # On the wall {u : normal . u = offset}: along it the difference is flat, and at its foot point it is zero.
        difference = A - other_A
        across = np.einsum("nij,nj->ni", difference, normal)
        along = np.abs(difference - across[:, :, None] * normal[:, None, :]).max(axis=2, initial=0.0)
        foot = np.abs(across * offset[:, None] + c - other_c)
        jump = _relative(along, foot, offset, *map(_larger, (A, c), (other_A, other_c)))
        # Where large terms cancel, a map is only as good as these terms are.
        far = np.flatnonzero(~(jump <= CONTINUITY))
        if len(far):
            sizes = map(
                _larger,
                sizes_of_terms(atlas.program, atlas.domain, atlas.signs(here[far])),
                sizes_of_terms(atlas.program, atlas.domain, atlas.signs(there[far])),
            )
            jump[far] = _relative(along[far], foot[far], offset[far], *sizes)
        left = np.flatnonzero(~(jump <= CONTINUITY))
        shown = np.concatenate([all_c[..., None], all_A], axis=2)[items].reshape(2, len(facets), atlas.outputs, -1)
        agree = np.array(
            [_agree_exactly(atlas, exact, (here[i], there[i]), walls[i], shown[:, i]) for i in left], dtype=bool
        )
        jump[left] = np.where(agree, 0.0, np.nan_to_num(jump[left], nan=np.inf))
        worst = float(np.maximum(worst, jump.max(initial=0.0)))
    return Check(
        "maps agree across facets",
        worst <= CONTINUITY,
        f"{how_many(len(inner), 'facet')}, largest jump {worst:.2g} relative",
    )


def _agree_exactly(atlas: Atlas, exact: ExactGates, cells: tuple[int, int], wall: int, shown: Array) -> bool:
    """Whether the maps of two cells differ by multiples of the wall's form on either of them, and are as shown."""
    tick()
    signs = atlas.signs(list(cells))
    met = met_signs(atlas, np.array(cells), np.array(cells[::-1]))
    try:
        walls = [form.coefficients for form in exact.forms(int(wall), met) if not form.vanishes]
        maps = [
            [exact.forms(atlas.gates + k, signs[[i]])[0].coefficients for k in range(atlas.outputs)] for i in (0, 1)
        ]
    except TooMuchError:
        return False
    rounded = np.array([[[as_float(number) for number in row] for row in rows] for rows in maps])
    if not np.isclose(shown, rounded, rtol=CONTINUITY, atol=0.0).all():
        return False
    differences = [[p - q for p, q in zip(one, other, strict=True)] for one, other in zip(*maps, strict=True)]
    return any(all(_is_multiple(difference, row) for difference in differences) for row in walls)


def _is_multiple(row: Sequence[fmpq], of: Sequence[fmpq]) -> bool:
    pivot = next(k for k, entry in enumerate(of) if entry)
    return all(p * of[pivot] == row[pivot] * q for p, q in zip(row, of, strict=True))


def _larger(one: Array, other: Array) -> Array:
    return np.maximum(np.abs(one), np.abs(other))


def _relative(along: Array, foot: Array, offset: Array, A: Array, c: Array) -> Array:
    """The larger of each facet's two jumps, relative to a map with coefficients as large as these."""
    scale_A = A.max(axis=(1, 2), initial=1.0)[:, None]
    scale_c = c + scale_A * np.abs(offset)[:, None] + 1.0
    jump: Array = np.maximum(along / scale_A, foot / scale_c).max(axis=1, initial=0.0)
    # Nothing is small beside infinity.
    return np.where(np.isfinite(scale_c).all(axis=1), jump, np.nan)


def check_facets(atlas: Atlas, found: npt.NDArray[np.int32]) -> Check:
    """The facets listed are as many as the cells' vertices and rays lie on."""
    others = int((found != np.diff(atlas.facet_start)).sum())
    return Check("facets are those of the vertices", others == 0, f"{others:,} cells have others than those listed")


def check_euler(atlas: Atlas) -> Check:
    """The faces' alternating sum is that of a ball, or of R^d without its points at infinity."""
    found, expected = atlas.euler_characteristic(), 1 if atlas.bounded.all() else (-1) ** atlas.dim
    return Check("Euler characteristic", found == expected, f"{found} from {atlas.f_vector()}, {expected} expected")


def check_volumes(atlas: Atlas, volumes: Array) -> Check:
    """The cells' volumes add up to the domain's."""
    return check_sum(float(volumes.sum()), domain_volume(atlas.domain))


def _chunks(count: int, floats_each: int = 1, most: int = _CHUNK) -> Iterator[slice]:
    """Slices of range(count), with a look at the clock before each."""
    step = max(1, min(most, _FLOATS // max(1, floats_each)))
    for start in range(0, count, step):
        tick()
        yield slice(start, min(start + step, count))
