"""Maps between networks: the matrix M_j that turns one network's local maps into another's, and how alike they are.

M_j minimises the sum of squares of C_j,a M_j - C_j,b over the inputs that both networks were asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.notebook import InNotebooks
from polyfold._base.numbers import place_of_output
from polyfold._base.progress import reporter
from polyfold.errors import LimitError, ShapeError, how_many
from polyfold.maps.gram import Floats, means, products, span
from polyfold.maps.result import AT_ONCE, MapMatrices, applied, largest_output, share_right

Array = npt.NDArray[Any]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fit:
    """One output's matrix M (columns, columns), the rank of the rows it is made from, and what it leaves.

    `residual` is the part of the target's sum of squares that is not reached, between 0 and 1.
    """

    matrix: Floats
    rank: int
    residual: float


@dataclass(frozen=True, eq=False, repr=False)
class Transfer(InNotebooks):
    """A network's maps turned into another's: one matrix M an output, in `fits`."""

    fits: tuple[Fit, ...]
    outputs: tuple[int, ...]

    def __repr__(self) -> str:
        left = max(fit.residual for fit in self.fits)
        return f"Transfer: {how_many(len(self.outputs), 'output')}, at most {left:.3g} of the squares left"

    def of(self, output: int) -> Floats:
        """M_j: rows [w, b] of the first network times M_j are near to those of the second one."""
        return self.fits[place_of_output(output, self.outputs, "transfers")].matrix

    @property
    def residual(self) -> tuple[float, ...]:
        """The part of the second network's sum of squares that is not reached, an output."""
        return tuple(fit.residual for fit in self.fits)

    @property
    def rank(self) -> tuple[int, ...]:
        """How many dimensions the first network's rows have, an output."""
        return tuple(fit.rank for fit in self.fits)

    def values(self, maps: MapMatrices) -> npt.NDArray[np.float64]:
        """The outputs (n, outputs) at the inputs of maps of the first network, by what their rows are turned into."""
        return np.stack([values_by_matrix(maps.of(j), maps.X, self.of(j)) for j in self.outputs], axis=1)

    def predict(self, maps: MapMatrices) -> Labels:
        """The output that is largest at each input."""
        return largest_output(self.outputs, self.values(maps))

    def score(self, maps: MapMatrices, labels: Any) -> float:
        """The share of inputs that get the label given."""
        return share_right(self.predict(maps), labels)


def transfer(
    maps_a: MapMatrices,
    maps_b: MapMatrices,
    *,
    ridge: float = 0.0,
    progress: bool | Callable[[int], None] = False,
) -> Transfer:
    """The least-squares map from one network's local maps to another's, output by output.

    Both have to be maps at the same inputs. Where rows of the first network do not reach all dimensions, the smallest
    of the best matrices is taken: what is orthogonal to the rows goes to zero.

    Parameters
    ----------
    maps_a, maps_b: from `pf.maps.matrices`, with the same inputs and outputs.
    ridge: how much large matrices are penalised: this part of the largest sum of squares along a direction is added to
        all of them. 0 for plain least squares.
    progress: True for a progress line on standard error, or a function that is called with the number of outputs done.

    >>> import numpy as np, polyfold as pf
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.ones(1))]
    >>> twice = [(np.eye(2), np.zeros(2)), (2 * np.ones((1, 2)), 2 * np.ones(1))]
    >>> found = pf.maps.transfer(pf.maps.matrices(corner, X), pf.maps.matrices(twice, X))
    >>> np.round(found.of(0), 9) + 0.0
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    check_ridge(ridge)
    check_pair(maps_a, maps_b)
    fits = []
    with reporter(progress, "outputs") as report:
        for number, output in enumerate(maps_a.outputs, start=1):
            a, b = maps_a.of(output), maps_b.of(output)
            fits.append(fit(products(a, a), products(a, b), sum_of_squares(b), ridge))
            report(number)
    return Transfer(tuple(fits), maps_a.outputs)


def fit(gram: Floats, cross: Floats, squares: float, ridge: float = 0.0) -> Fit:
    """The best M for a^T a, a^T b and the sum of squares of b."""
    reached = span(gram)
    weights = reached.squares + ridge * (float(reached.squares[-1]) if reached.rank else 0.0)
    along = reached.directions.T @ cross
    within = along / weights[:, None]
    # |a M - b|^2 = |b|^2 - 2 <a M, b> + |a M|^2, all of it along the directions that a reaches.
    gained = 2 * float((within * along).sum()) - float((within**2 * reached.squares[:, None]).sum())
    residual = max(0.0, 1 - gained / squares) if squares > 0 else 0.0
    return Fit(reached.directions @ within, reached.rank, residual)


def sum_of_squares(rows: Array) -> float:
    """Of all entries."""
    parts = (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE))
    return float(sum(np.square(part, dtype=np.float64).sum() for part in parts))


def values_by_matrix(rows: Array, X: Array, matrix: Array) -> npt.NDArray[np.float64]:
    """One output at inputs X by rows that a matrix has turned into others."""
    found = np.empty(len(rows))
    for start in range(0, len(rows), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        found[part] = applied((rows[part] @ matrix)[None], X[part])[:, 0]
    return found


# -- how alike networks are


@dataclass(frozen=True, eq=False)
class Similarity(InNotebooks):
    """How alike the local maps of two networks are, an output: 1 is the same up to turning and one common factor.

    Linear centred kernel alignment of C_j,a and C_j,b.
    """

    alignment: tuple[float, ...]
    outputs: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Over outputs."""
        return float(np.mean(self.alignment))


def similarity(maps_a: MapMatrices, maps_b: MapMatrices) -> Similarity:
    """How alike two networks' local maps at the same inputs are (CKA): it needs no map between them.

    >>> import numpy as np, polyfold as pf
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> maps = pf.maps.matrices([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.ones(1))], X)
    >>> round(pf.maps.similarity(maps, maps).mean, 9)
    1.0
    """
    check_pair(maps_a, maps_b)
    found = []
    for output in maps_a.outputs:
        a, b = maps_a.of(output), maps_b.of(output)
        found.append(alignment(products(a, a), products(b, b), products(a, b), means(a), means(b), len(a)))
    return Similarity(tuple(found), maps_a.outputs)


def alignment(aa: Floats, bb: Floats, ab: Floats, mean_a: Floats, mean_b: Floats, n: int) -> float:
    """Linear CKA from sums of products: |A^T B|^2 / (|A^T A| |B^T B|) of the centred matrices; NaN if one is zero."""
    aa, bb, ab = (
        gram - n * np.outer(one, other)
        for gram, one, other in ((aa, mean_a, mean_a), (bb, mean_b, mean_b), (ab, mean_a, mean_b))
    )
    size = float(np.linalg.norm(aa) * np.linalg.norm(bb))
    return float(np.linalg.norm(ab)) ** 2 / size if size > 0 else float("nan")


# -- several networks at once


@dataclass(frozen=True, eq=False)
class TransferTable(InNotebooks):
    """Every network's maps turned into every other's. Row: from; column: to; the diagonal is the networks themselves.

    `accuracy` on the test inputs; `residual` and `alignment` on the training inputs, as means over outputs.
    """

    names: tuple[str, ...]
    accuracy: Floats
    residual: Floats
    alignment: Floats


@dataclass(frozen=True, eq=False)
class OutputTable:
    """One output of several networks: values (from, to, n) at the test inputs, and the scores between them."""

    values: Floats
    residual: Floats
    alignment: Floats


def output_table(train: list[Array], test: list[Array], X: Array, ridge: float = 0.0) -> OutputTable:
    """All pairs of networks for one output: C_j at training inputs, C_j at test inputs X; products are shared."""
    count = len(train)
    grams = {(a, b): products(train[a], train[b]) for a in range(count) for b in range(a, count)}
    centre = [means(each) for each in train]
    values = np.empty((count, count, len(X)))
    residual, alike = np.zeros((count, count)), np.ones((count, count))
    for a in range(count):
        for b in range(count):
            if a == b:
                values[a, a] = applied(test[a][None], X)[:, 0]
                continue
            cross = grams[a, b] if a < b else grams[b, a].T
            found = fit(grams[a, a], cross, float(np.trace(grams[b, b])), ridge)
            values[a, b] = values_by_matrix(test[a], X, found.matrix)
            residual[a, b] = found.residual
            alike[a, b] = alignment(grams[a, a], grams[b, b], cross, centre[a], centre[b], len(train[a]))
    return OutputTable(values, residual, alike)


def transfer_table(
    train: Mapping[str, MapMatrices],
    test: Mapping[str, MapMatrices],
    labels: Any,
    *,
    ridge: float = 0.0,
    progress: bool | Callable[[int], None] = False,
) -> TransferTable:
    """The accuracy matrix of several networks: maps between them are made on `train` and tried on `test`.

    Both give the networks' maps by name, all of `train` at the same inputs and all of `test` at the same inputs.
    """
    check_ridge(ridge)
    names = tuple(train)
    if not names or set(test) != set(names):
        raise ShapeError(
            f"train has networks {list(names)} and test has {list(test)}: give the same ones, at least one"
        )
    for group in (train, test):
        for name in names[1:]:
            check_pair(group[names[0]], group[name])
    outputs = train[names[0]].outputs
    if test[names[0]].outputs != outputs:
        raise ShapeError(f"train has outputs {list(outputs)} and test has {list(test[names[0]].outputs)}")
    tables = []
    X = test[names[0]].X
    with reporter(progress, "outputs") as report:
        for number, j in enumerate(outputs, start=1):
            tables.append(
                output_table([train[name].of(j) for name in names], [test[name].of(j) for name in names], X, ridge)
            )
            report(number)
    return together(names, outputs, tables, labels)


def together(names: tuple[str, ...], outputs: tuple[int, ...], tables: list[OutputTable], labels: Any) -> TransferTable:
    """The table of all outputs from those of each."""
    chosen = np.asarray(outputs)[np.stack([table.values for table in tables]).argmax(axis=0)]
    accuracy = np.array([[share_right(one, labels) for one in row] for row in chosen])
    residual = np.mean([table.residual for table in tables], axis=0)
    return TransferTable(names, accuracy, residual, np.mean([table.alignment for table in tables], axis=0))


def check_ridge(ridge: Any) -> None:
    """Refuse what is no penalty."""
    if not isinstance(ridge, Real) or not 0 <= float(ridge) < np.inf:
        raise LimitError(f"ridge={ridge!r} must be zero or a positive number")


def check_pair(a: MapMatrices, b: MapMatrices) -> None:
    """Refuse maps that were not made at the same inputs, or not of the same outputs."""
    if a.outputs != b.outputs:
        raise ShapeError(f"maps of outputs {list(a.outputs)} and of outputs {list(b.outputs)} cannot be compared")
    if a.X.shape != b.X.shape or not np.array_equal(a.X, b.X):
        raise ShapeError(
            f"these maps are at other inputs: shapes {a.X.shape} and {b.X.shape}; make both at the same ones"
        )
