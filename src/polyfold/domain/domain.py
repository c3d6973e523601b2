"""Domains: where we look. All of R^n, a box, a polytope, or a slice x = x0 + B u of any of them.

A resolved Domain is always the image of parameters u in R^d under u -> origin + basis @ u (the identity unless it is
a slice), cut by rows over the inputs x and rows over the parameters u. Rows stay where the user wrote them: carrying
rows over x to rows over u would round, and the engine does that exactly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from polyfold._base.notebook import InNotebooks
from polyfold._base.read_only import ReadOnly, for_good
from polyfold._base.types import Array
from polyfold.domain.rows import Rows
from polyfold.errors import DomainError, how_many
from polyfold.exact.given import as_given, is_exact, over_divisors
from polyfold.exact.linear_algebra import column_rank
from polyfold.exact.tolerances import SAME_DIRECTION

# Numbers that an error writes out.
_SHOWN = 12

_DIGESTED_AT_ONCE = 1 << 16

# From so many dimensions on the rows of a box are a view of a vector: as a matrix they are megabytes of zeros.
_MANY = 64


@dataclass(frozen=True, eq=False)
class Domain(ReadOnly, InNotebooks):
    """{origin + basis u : input_rows x <= input_offsets, parameter_rows u <= parameter_offsets}.

    `origin` is (n,), `basis` (n, d), the rows (k, n) and (l, d). Cells live in the d parameters; without a slice n =
    d and u = x. Domain row r of the atlas is row r of the input rows and then of the parameter rows.
    """

    origin: Array
    basis: Array
    input_rows: Array
    input_offsets: Array
    parameter_rows: Array
    parameter_offsets: Array

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            array = getattr(self, name)
            # An identity that is only a view would become a matrix: of an image's pixels, one of gigabytes.
            if not _has_constant_diagonals(array):
                array = np.array(array, dtype=np.float64)
            object.__setattr__(self, name, for_good(array))

    @property
    def input_dim(self) -> int:
        """n: the network's input dimension."""
        return int(self.basis.shape[0])

    @property
    def dim(self) -> int:
        """d: the dimension in which cells are full-dimensional."""
        return int(self.basis.shape[1])

    @property
    def rows(self) -> int:
        """How many domain rows there are."""
        return len(self.input_rows) + len(self.parameter_rows)

    @cached_property
    def is_slice(self) -> bool:
        """Whether parameters differ from inputs."""
        return not (self.input_dim == self.dim and not self.origin.any() and _is_identity(self.basis))

    @cached_property
    def over_inputs(self) -> Rows:
        """The input rows, to be applied to many inputs."""
        return Rows(self.input_rows)

    @cached_property
    def over_parameters(self) -> Rows:
        """The parameter rows, to be applied to many parameters."""
        return Rows(self.parameter_rows)

    def lift(self, parameters: Any) -> Array:
        """Input points (n_points, n) of parameter points (n_points, d)."""
        points = np.asarray(parameters, dtype=np.float64)
        return self.origin + points @ self.basis.T if self.is_slice else points

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all numbers of the domain."""
        hasher = hashlib.sha256()
        for name in self.__dataclass_fields__:
            array: Array = getattr(self, name)
            hasher.update(str(array.shape).encode())
            # Some rows at once: an identity of an image's pixels is a view, and would be gigabytes.
            rows = max(1, _DIGESTED_AT_ONCE // max(1, array[:1].size))
            for first in range(0, len(array), rows):
                hasher.update(written_out(array, first, first + rows).tobytes())
        return hasher.hexdigest()

    def tell_digest(self) -> str:
        """The same for who may never read it: of a box of an image's pixels it takes its time."""
        return self.digest

    def to_json(self) -> dict[str, Any]:
        """All numbers; without a slice there is no origin and no basis to tell."""
        told = {name: written_out(getattr(self, name)).tolist() for name in self.__dataclass_fields__}
        if not self.is_slice:
            told |= {"origin": None, "basis": None}
        return {"input_dim": self.input_dim, **told}

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Domain:
        """The domain that `to_json` wrote.

        >>> Domain.from_json(resolve_domain(box(-1, 2), 3).to_json()).digest == resolve_domain(box(-1, 2), 3).digest
        True
        """
        n = int(told["input_dim"])
        whole = told["basis"] is None
        basis = _identity(n) if whole else np.array(told["basis"], dtype=np.float64).reshape(n, -1)
        return Domain(
            np.zeros(n) if whole else np.array(told["origin"]),
            basis,
            np.array(told["input_rows"], dtype=np.float64).reshape(-1, n),
            np.array(told["input_offsets"], dtype=np.float64),
            np.array(told["parameter_rows"], dtype=np.float64).reshape(-1, basis.shape[1]),
            np.array(told["parameter_offsets"], dtype=np.float64),
        )

    def describe(self) -> str:
        """A few words for summaries."""
        place = f"a {self.dim}-dimensional slice of R^{self.input_dim}" if self.is_slice else f"R^{self.dim}"
        return f"{place} cut by {how_many(self.rows, 'row')}" if self.rows else place


@dataclass(frozen=True, eq=False)
class Box:
    """lo <= x <= hi; scalars hold for every dimension, infinite bounds are no bounds."""

    lo: Any
    hi: Any

    def resolve(self, dim: int) -> Domain:
        lo, hi = (_bounds(value, dim, name) for value, name in ((self.lo, "lo"), (self.hi, "hi")))
        if is_exact(lo) or is_exact(hi):
            return _box_of_fractions(lo, hi, dim)
        for k in range(dim):
            if lo[k] > hi[k] or (lo[k] == hi[k] and np.isinf(lo[k])):
                raise DomainError(
                    f"the box is empty in dimension {k}: it goes from {lo[k]} to {hi[k]}; lo must be less than hi"
                )
        if (lo == hi).any():
            raise DomainError(_flat_box(lo, hi))
        below, above = np.isfinite(lo), np.isfinite(hi)
        offsets = np.concatenate([-lo[below], hi[above]])
        if dim >= _MANY and below.all() and above.all():
            return _unsliced(_sides(dim), offsets, dim)
        eye = np.eye(dim)
        return _unsliced(np.concatenate([-eye[below], eye[above]]), offsets, dim)


@dataclass(frozen=True, eq=False)
class Polytope:
    """{x : A x <= b}, bounded or not."""

    A: Any
    b: Any

    def resolve(self, dim: int) -> Domain:
        A = np.atleast_2d(_exact_numbers(self.A, "the polytope's A"))
        b = np.atleast_1d(_exact_numbers(self.b, "the polytope's b"))
        if A.ndim != 2 or A.shape[1] != dim or b.shape != (A.shape[0],):
            raise DomainError(
                f"a polytope A x <= b in R^{dim} needs A of shape (rows, {dim}) and b of shape (rows,); "
                f"these are {A.shape} and {b.shape}"
            )
        if not all(np.isfinite(part.astype(np.float64)).all() for part in (A, b)):
            raise DomainError("a polytope's A and b must be finite numbers; leave out rows that do not bind")
        if is_exact(A) or is_exact(b):
            return _of_fractions(A, b, "the polytope", dim)
        return _unsliced(A, b, dim)


@dataclass(frozen=True, eq=False)
class Slice:
    """x = origin + basis u for u in R^d, within another domain, and optionally with bounds on u."""

    origin: Any
    basis: Any
    within: Box | Polytope | None = None
    bounds: Box | Polytope | None = None

    def resolve(self, dim: int) -> Domain:
        origin, basis = _numbers(self.origin, "the slice's origin"), _numbers(self.basis, "the slice's basis")
        for name, limit in (("within", self.within), ("bounds", self.bounds)):
            if not isinstance(limit, Box | Polytope | None):
                raise DomainError(f"a slice's {name} must be pf.box(lo, hi), pf.polytope(A, b) or None, got {limit!r}")
        if basis.ndim == 1:
            basis = basis[:, None]
        if origin.ndim == 1 and basis.shape[:1] == origin.shape != (dim,):
            raise DomainError(f"the slice lies in R^{len(origin)}, and the network takes {dim} inputs")
        if origin.shape != (dim,) or basis.ndim != 2 or basis.shape[0] != dim or basis.shape[1] == 0:
            raise DomainError(
                f"a slice of R^{dim} needs an origin of shape ({dim},) and a basis of shape ({dim}, k); "
                f"these are {origin.shape} and {basis.shape}"
            )
        if not (np.isfinite(origin).all() and np.isfinite(basis).all()):
            raise DomainError("a slice's origin and basis must be finite numbers")
        rank = column_rank(basis)
        if rank < basis.shape[1]:
            raise DomainError(
                f"the {basis.shape[1]}-dimensional slice is flat: "
                f"its directions span only {how_many(rank, 'dimension')}"
            )
        outer = (self.within or Polytope(np.zeros((0, dim)), np.zeros(0))).resolve(dim)
        inner = (self.bounds or Polytope(np.zeros((0, rank)), np.zeros(0))).resolve(rank)
        return Domain(origin, basis, outer.input_rows, outer.input_offsets, inner.input_rows, inner.input_offsets)


DomainLike = Domain | Box | Polytope | Slice | None


def box(lo: Any, hi: Any) -> Box:
    """The box lo <= x <= hi.

    >>> box(-1, 1).resolve(3).rows
    6
    """
    return Box(lo, hi)


def polytope(A: Any, b: Any) -> Polytope:
    """The set A x <= b; it may be unbounded, but must have an interior.

    >>> polytope([[1.0, 1.0]], [1.0]).resolve(2).dim
    2
    """
    return Polytope(A, b)


def slice_of(
    origin: Any, basis: Any, *, within: Box | Polytope | None = None, bounds: Box | Polytope | None = None
) -> Slice:
    """The affine subspace x = origin + basis u, inside `within` (over x) and `bounds` (over u).

    >>> slice_of([0, 0, 1], [[1, 0], [0, 1], [0, 0]], within=box(-1, 1)).resolve(3).dim
    2
    """
    return Slice(origin, basis, within, bounds)


def line(a: Any, b: Any, *, extend: tuple[float, float] = (0.0, 1.0)) -> Slice:
    """The segment from a to b, x = a + t (b - a), with one parameter t; `extend` says from where to where t goes.

    Points of any shape will do, as long as both have the same: a picture counts as the list of its pixels.

    >>> line([0, 0, 0], [1, 2, 3]).resolve(3).lift([[0.5]]).tolist()
    [[0.5, 1.0, 1.5]]
    """
    start, end = _points(("a", a), ("b", b))
    if np.array_equal(start, end):
        raise DomainError("a line needs two different points; a and b are the same")
    return Slice(start, (end - start)[:, None], bounds=_extent(extend))


def plane(
    x0: Any, first: Any, second: Any, bounds: Box | Polytope | None = None, *, extend: tuple[float, float] | None = None
) -> Slice:
    """A plane, through three points or through one point along two directions, with two parameters.

    `plane(p, q, r)` goes through three points: x = p + u (q - p) + v (r - p). The triangle is u, v >= 0, u + v <= 1.
    Looked at is the parallelogram 0 <= u, v <= 1 around it, or with `extend` lo <= u, v <= hi.

    `plane(x0, d, e, bounds)` goes through x0 along d and e: x = x0 + s d + t e with (s, t) in `bounds`, a box or a
    polytope. Whether bounds are given decides between the two.

    Points and directions of any shape will do, as long as all have the same.

    >>> plane([0, 0, 1], [2, 0, 1], [0, 2, 1]).resolve(3).lift([[0.5, 0.5]]).tolist()
    [[1.0, 1.0, 1.0]]
    >>> plane([0, 0, 1], [2, 0, 1], [0, 2, 1], box(-1, 1)).resolve(3).lift([[0.5, 0.5]]).tolist()
    [[1.0, 1.0, 2.0]]
    """
    if bounds is None:
        p, q, r = _points(("p", x0), ("q", first), ("r", second))
        if _on_a_line(q - p, r - p):
            raise DomainError(
                "a plane needs three points that do not lie on a line; p, q and r do, up to rounding. For a line there "
                "is pf.line(a, b)"
            )
        return Slice(p, np.stack([q - p, r - p], axis=1), bounds=_extent((0.0, 1.0) if extend is None else extend))
    if extend is not None:
        raise DomainError("a plane has bounds (origin and two directions) or extend (three points), not both")
    origin, *directions = _points(("x0", x0), ("the first direction", first), ("the second direction", second))
    basis = np.stack(directions, axis=1)
    if column_rank(basis) < 2:
        raise DomainError("a plane needs two directions that do not lie on a line; the first and the second one do")
    return Slice(origin, basis, bounds=bounds)


def whole_space(dim: int) -> Domain:
    """All of R^dim."""
    return _unsliced(np.zeros((0, dim)), np.zeros(0), dim)


def resolve_domain(domain: DomainLike, dim: int) -> Domain:
    """The domain for a network with `dim` inputs; None is all of R^dim."""
    if domain is None:
        return whole_space(dim)
    if isinstance(domain, Domain):
        if domain.input_dim != dim:
            raise DomainError(f"the domain lies in R^{domain.input_dim}, the network takes {how_many(dim, 'input')}")
        return domain
    if isinstance(domain, Box | Polytope | Slice):
        return domain.resolve(dim)
    raise DomainError(
        f"{domain!r} is not a domain: use None for all of R^d, pf.box(lo, hi), pf.polytope(A, b), pf.slice_of(x0, B), "
        "pf.line(a, b) or pf.plane(p, q, r)"
    )


def _flat_box(lo: Array, hi: Array) -> str:
    """What to say of a box without an inside: the slice that it is."""
    fixed = np.flatnonzero(lo == hi)
    axes = ", ".join(map(str, fixed[:_SHOWN].tolist())) + (", ..." if len(fixed) > _SHOWN else "")
    where = f"the box is flat: lo and hi are the same in dimension{'s' if len(fixed) > 1 else ''} {axes}"
    free = np.flatnonzero(lo < hi)
    if not len(free):
        return f"{where}, so it is a single point; pf.local(network, [{_written(lo)}]) says what the network does there"
    if len(lo) > _SHOWN:
        arguments = f"np.where(lo == hi, lo, 0), np.eye({len(lo)})[:, lo < hi], bounds=pf.box(lo[lo < hi], hi[lo < hi])"
    else:
        arguments = f"{_written(np.where(lo == hi, lo, 0.0))}, np.eye({len(lo)})[:, {free.tolist()}], "
        arguments += f"bounds=pf.box({_written(lo[free])}, {_written(hi[free])})"
    return f"{where}; as a slice it has an inside: pf.slice_of({arguments})"


def _written(numbers: Array) -> str:
    """Numbers as Python reads them."""
    return repr([float(x) for x in numbers]).replace("inf", "np.inf") if len(numbers) <= _SHOWN else "lo"


def _unsliced(rows: Array, offsets: Array, dim: int) -> Domain:
    return Domain(np.zeros(dim), _identity(dim), rows, offsets, np.zeros((0, dim)), np.zeros(0))


def _box_of_fractions(lo: Any, hi: Any, dim: int) -> Domain:
    """A box some of whose sides are no floats: x <= 1/3 is 3 x <= 1, which floats can say."""
    rows, offsets = [], []
    for k in range(dim):
        low, high = lo[k], hi[k]
        if not low < high:
            raise DomainError(
                f"the box is empty in dimension {k}: it goes from {low} to {high}; lo must be less than hi"
            )
        for side, bound in ((-1, low), (1, high)):
            if abs(bound) < np.inf:
                rows.append([Fraction(side if j == k else 0) for j in range(dim)])
                offsets.append(side * Fraction(bound))
    below = [k for k, row in enumerate(rows) if min(row) < 0]
    order = [*below, *(k for k in range(len(rows)) if k not in below)]
    return _of_fractions([rows[k] for k in order], [offsets[k] for k in order], "the box", dim)


def _of_fractions(A: Any, b: Any, what: str, dim: int) -> Domain:
    """Rows of fractions times the whole numbers that make them rows of floats."""
    whole = np.empty((len(b), dim + 1), dtype=object)
    for i, (row, offset) in enumerate(zip(A, b, strict=True)):
        whole[i] = [*(Fraction(value) for value in row), Fraction(offset)]
    try:
        rows, _ = over_divisors(whole)
    except ValueError as error:
        raise DomainError(f"{what} cannot be kept exactly: {error}; give floats, or simpler fractions") from None
    return _unsliced(rows[:, :-1], rows[:, -1], dim)


def _points(*named: tuple[str, Any]) -> list[Array]:
    """Points of one shape, as lists of numbers."""
    arrays = [_numbers(value, name) for name, value in named]
    for (name, _), array in zip(named, arrays, strict=True):
        if not np.isfinite(array).all():
            raise DomainError(f"{name} is not finite: a line or plane needs points of finite numbers")
    if len({array.shape for array in arrays}) > 1:
        shapes = ", ".join(f"{name}: {array.shape}" for (name, _), array in zip(named, arrays, strict=True))
        raise DomainError(f"points of a line or plane must have one shape; these have {shapes}")
    return [array.ravel() for array in arrays]


def _on_a_line(d: Array, e: Array) -> bool:
    """Whether two directions are the same as far as floats can tell, or one of them is none."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = float(np.linalg.norm(d)), float(np.linalg.norm(e))
        if not all(0 < length < np.inf for length in lengths):
            return 0.0 in lengths
        d, e = d / lengths[0], e / lengths[1]
        return bool(np.linalg.norm(e - (d @ e) * d) <= SAME_DIRECTION)


def _extent(extend: tuple[float, float]) -> Box:
    try:
        lo, hi = (value if isinstance(value, Fraction) else float(value) for value in extend)
    except (TypeError, ValueError):
        raise DomainError(f"extend={extend!r} must be two numbers, from where to where the parameters go") from None
    if not lo < hi:
        raise DomainError(f"extend={extend!r} is empty: its first number must be less than its second")
    return Box(lo, hi)


def _bounds(value: Any, dim: int, name: str) -> Any:
    array = _exact_numbers(value, f"the box's {name}")
    if array.ndim == 0:
        array = np.full(dim, array[()], dtype=array.dtype)
    if array.shape != (dim,):
        raise DomainError(f"the box's {name} has shape {array.shape}; in R^{dim} it needs ({dim},)")
    if not is_exact(array) and np.isnan(array).any():
        raise DomainError(f"the box's {name} contains NaN: {array.tolist()}")
    return array


def _numbers(value: Any, name: str) -> Array:
    """Floats; fractions that are none are refused rather than rounded."""
    array = _exact_numbers(value, name)
    if is_exact(array):
        first = next(each for each in array.ravel() if float(each) != each)
        raise DomainError(f"{name} holds {first}, which is no float and would be rounded: give floats that are near it")
    return np.asarray(array, dtype=np.float64)


def _exact_numbers(value: Any, name: str) -> Any:
    """An array of floats, or of fractions where floats would round."""
    try:
        return as_given(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DomainError(f"{name} is no array of numbers: {error}") from None


def _sides(dim: int) -> Array:
    """The sides of a box, lower ones first, as a read-only view of a vector: entry (i, j) is its entry
    2 dim - 1 + j - i.

    >>> _sides(2).tolist()
    [[-1.0, 0.0], [0.0, -1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    diagonals = np.zeros(3 * dim - 1)
    diagonals[2 * dim - 1], diagonals[dim - 1] = -1.0, 1.0
    step = diagonals.itemsize
    return np.lib.stride_tricks.as_strided(diagonals[2 * dim - 1 :], (2 * dim, dim), (-step, step), writeable=False)


def written_out(array: Array, start: int = 0, stop: int | None = None) -> Array:
    """Some rows of an array. Those of a view are as a negated identity has them, with zeros that are negative, so that
    a box has the digest of its rows in a matrix."""
    part: Array = np.ascontiguousarray(array[start:stop])
    if _has_constant_diagonals(array):
        part = np.where(part.sum(axis=1, keepdims=True) < 0, -np.abs(part), part)
    return part


def _identity(dim: int) -> Array:
    """The identity as a read-only view of a vector: entry (i, j) is the vector's entry dim + j - i."""
    diagonals = np.zeros(2 * dim + 1)
    diagonals[dim] = 1.0
    step = diagonals.itemsize
    return np.lib.stride_tricks.as_strided(diagonals[dim:], (dim, dim), (-step, step), writeable=False)


def _has_constant_diagonals(array: Array) -> bool:
    """Whether an array is a view such as `_identity` makes."""
    return not array.flags.writeable and array.ndim == 2 and sum(array.strides) == 0 and array.strides[1] > 0


def _is_identity(matrix: Array) -> bool:
    if _has_constant_diagonals(matrix):
        edges = matrix[:1].ravel(), matrix[:, :1].ravel()
        return all(bool(np.array_equal(edge, np.eye(1, len(edge))[0])) for edge in edges)
    return bool(np.array_equal(matrix, np.eye(len(matrix))))
