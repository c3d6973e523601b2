"""Maps between networks: the matrix M_j that turns one network's local maps into another's, and how alike they are.

M_j minimises the sum of squares of C_j,a M_j - C_j,b over the inputs that both networks were asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.clock import Report, running, tick
from polyfold._base.inputs import place_of_output
from polyfold._base.question import question
from polyfold._base.result import Rows, answered
from polyfold._base.types import Array, ArrayLike, Ids
from polyfold.errors import LimitError, ShapeError, how_many
from polyfold.maps.gram import PRODUCTS, means, products, span, times
from polyfold.maps.result import AT_ONCE, MapMatrices, applied, largest_output, share_right

# Of either precision.
Floats = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Fit:
    """One output's matrix M (columns, columns), the rank of the rows it is made from, and what it leaves.

    `residual` is the part of the target's sum of squares that is not reached, between 0 and 1.
    """

    matrix: Array
    rank: int
    residual: float


@dataclass(frozen=True, eq=False, repr=False)
class Transfer(Rows):
    """A network's maps turned into another's: one matrix M per output.

    Attributes
    ----------
    fits : tuple of Fit
        For each output the matrix, the rank of what it is made from, and what it leaves.
    outputs : tuple of int
        The numbers of the outputs.
    """

    fits: tuple[Fit, ...]
    outputs: tuple[int, ...]

    def __repr__(self) -> str:
        left = max(fit.residual for fit in self.fits)
        return f"Transfer: {how_many(len(self.outputs), 'output')}, at most {left:.3g} of the squares left"

    def rows(self) -> dict[str, Any]:
        """One row per output: the rank and the residual."""
        return {"output": self.outputs, "rank": self.rank, "residual": self.residual}

    def facts(self) -> dict[str, Any]:
        return {"outputs": self.outputs, "rank": self.rank, "residual": self.residual}

    def of(self, output: int) -> Array:
        """M_j: rows [w, b] of the first network times M_j are near to those of the second one."""
        return self.fits[place_of_output(output, self.outputs, "transfers")].matrix

    @property
    def residual(self) -> tuple[float, ...]:
        """For each output the part of the second network's sum of squares that is not reached."""
        return tuple(fit.residual for fit in self.fits)

    @property
    def rank(self) -> tuple[int, ...]:
        """For each output how many dimensions the first network's rows have."""
        return tuple(fit.rank for fit in self.fits)

    def values(self, maps: MapMatrices) -> Array:
        """The outputs (n, outputs) at the inputs of maps of the first network, by what their rows are turned into."""
        return np.stack([values_by_matrix(maps.of(j), maps.X, self.of(j)) for j in self.outputs], axis=1)

    def predict(self, maps: MapMatrices) -> Ids:
        """The output that is largest at each input."""
        return largest_output(self.outputs, self.values(maps))

    def score(self, maps: MapMatrices, y: ArrayLike) -> float:
        """The share of inputs that get the label given."""
        return share_right(self.predict(maps), y)


@question("maps.transfer")
def transfer(
    maps: MapMatrices,
    other: MapMatrices,
    *,
    ridge: float = 0.0,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Transfer:
    """The least-squares map from one network's local maps to another's, output by output.

    Both have to be maps at the same inputs. Where rows of the first network do not reach all dimensions, the smallest
    of the best matrices is taken: what is orthogonal to the rows goes to zero.

    Parameters
    ----------
    maps, other : MapMatrices
        From `pf.maps.matrices`, with the same inputs and outputs.
    ridge : float
        How much large matrices are penalised: this part of the largest sum of squares along a direction is added to
        all of them. 0 for plain least squares.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Transfer
        One matrix per output, and what it leaves.

    Examples
    --------
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
    check_pair(maps, other)
    fits = []
    for number, output in enumerate(maps.outputs, start=1):
        a, b = maps.of(output), other.of(output)
        fits.append(fit(products(a, a), products(a, b), sum_of_squares(b), ridge))
        running().tell(number, len(maps.outputs), "outputs")
    return answered(Transfer(tuple(fits), maps.outputs), maps.evidence)


def fit(gram: Array, cross: Array, squares: float, ridge: float = 0.0) -> Fit:
    """The best M for a^T a, a^T b and the sum of squares of b."""
    reached = span(gram)
    weights = reached.squares + ridge * (float(reached.squares[-1]) if reached.rank else 0.0)
    along = times(reached.directions.T, cross)
    within = along / weights[:, None]
    # |a M - b|^2 = |b|^2 - 2 <a M, b> + |a M|^2, all of it along the directions that a reaches.
    gained = 2 * float((within * along).sum()) - float((within**2 * reached.squares[:, None]).sum())
    residual = max(0.0, 1 - gained / squares) if squares > 0 else 0.0
    return Fit(times(reached.directions, within), reached.rank, residual)


def sum_of_squares(rows: Floats) -> float:
    """Of all entries."""
    total = 0.0
    for start in range(0, len(rows), AT_ONCE):
        tick()
        total += float(np.square(rows[start : start + AT_ONCE], dtype=np.float64).sum())
    return total


def values_by_matrix(rows: Floats, X: Floats, matrix: Floats) -> Array:
    """One output at inputs X by rows that a matrix has turned into others."""
    found = np.empty(len(rows))
    step = max(16, min(AT_ONCE, PRODUCTS // max(1, matrix.size)))
    for start in range(0, len(rows), step):
        tick()
        part = slice(start, start + step)
        found[part] = applied((rows[part] @ matrix)[None], X[part])[:, 0]
    return found


# -- how alike networks are


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(Rows):
    """How alike the local maps of two networks are, output by output.

    Attributes
    ----------
    alignment : tuple of float
        Linear centred kernel alignment of C_j of both networks: 1 is the same up to turning and one common factor.
    outputs : tuple of int
        The numbers of the outputs.
    """

    alignment: tuple[float, ...]
    outputs: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Over outputs."""
        return float(np.mean(self.alignment))

    def __repr__(self) -> str:
        return f"Similarity: {how_many(len(self.outputs), 'output')}, mean alignment {self.mean:.3g}"

    def rows(self) -> dict[str, Any]:
        """One row per output."""
        return {"output": self.outputs, "alignment": self.alignment}

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "mean": self.mean}


@question("maps.similarity")
def similarity(
    maps: MapMatrices,
    other: MapMatrices,
    *,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> Similarity:
    """How alike two networks' local maps at the same inputs are (CKA): it needs no map between them.

    Parameters
    ----------
    maps, other : MapMatrices
        From `pf.maps.matrices`, with the same inputs and outputs.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Similarity
        One number per output, 1 if the maps are the same up to turning and one common factor.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> maps = pf.maps.matrices([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.ones(1))], X)
    >>> round(pf.maps.similarity(maps, maps).mean, 9)
    1.0
    """
    check_pair(maps, other)
    found = []
    for number, output in enumerate(maps.outputs, start=1):
        a, b = maps.of(output), other.of(output)
        found.append(alignment(products(a, a), products(b, b), products(a, b), means(a), means(b), len(a)))
        running().tell(number, len(maps.outputs), "outputs")
    return answered(Similarity(tuple(found), maps.outputs), maps.evidence)


def alignment(aa: Array, bb: Array, ab: Array, mean_a: Array, mean_b: Array, n: int) -> float:
    """Linear CKA from sums of products: |A^T B|^2 / (|A^T A| |B^T B|) of the centred matrices; NaN if one is zero."""
    aa, bb, ab = (
        gram - n * np.outer(one, other)
        for gram, one, other in ((aa, mean_a, mean_a), (bb, mean_b, mean_b), (ab, mean_a, mean_b))
    )
    size = float(np.linalg.norm(aa) * np.linalg.norm(bb))
    return float(np.linalg.norm(ab)) ** 2 / size if size > 0 else float("nan")


# -- several networks at once


@dataclass(frozen=True, eq=False, repr=False)
class TransferTable(Rows):
    """Every network's maps turned into every other's. Row: from; column: to; the diagonal is the networks themselves.

    Attributes
    ----------
    names : tuple of str
        Of the networks.
    accuracy : array of float, shape (networks, networks)
        On the test inputs.
    residual, alignment : array of float, shape (networks, networks)
        On the training inputs, as means over outputs.
    """

    names: tuple[str, ...]
    accuracy: Array
    residual: Array
    alignment: Array

    def __repr__(self) -> str:
        return (
            f"TransferTable: {', '.join(self.names)}; accuracy {self.accuracy.min():.3g} to {self.accuracy.max():.3g}"
        )

    def rows(self) -> dict[str, Any]:
        """One row per pair of networks."""
        count = len(self.names)
        return {
            "from": np.repeat(self.names, count),
            "to": np.tile(self.names, count),
            "accuracy": self.accuracy.ravel(),
            "residual": self.residual.ravel(),
            "alignment": self.alignment.ravel(),
        }


@dataclass(frozen=True, eq=False)
class OutputTable:
    """One output of several networks: values (from, to, n) at the test inputs, and the scores between them."""

    values: Array
    residual: Array
    alignment: Array


def output_table(train: list[Floats], test: list[Floats], X: Floats, ridge: float = 0.0) -> OutputTable:
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


@question("maps.transfer_table")
def transfer_table(
    maps: Mapping[str, MapMatrices],
    *,
    test: Mapping[str, MapMatrices],
    y: ArrayLike,
    ridge: float = 0.0,
    max_seconds: float | None = None,
    progress: bool | Report = False,
) -> TransferTable:
    """The accuracy matrix of several networks: maps between them are made on some inputs and tried on others.

    Parameters
    ----------
    maps : dict of MapMatrices
        The networks' maps by name, all at the same inputs: between these the matrices are made.
    test : dict of MapMatrices
        Maps of the same networks, all at the same inputs: on these the matrices are tried.
    y : ArrayLike, shape (n,)
        The right output of each test input.
    ridge : float
        As for `pf.maps.transfer`.
    max_seconds : float, optional
        The limit; LimitError if it does not suffice.
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    TransferTable
        For each pair of networks the accuracy, and how alike their maps are.

    Examples
    --------
    >>> import numpy as np, polyfold as pf
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> corner = [(np.eye(2), np.zeros(2)), (np.eye(2), np.ones(2))]
    >>> twice = [(np.eye(2), np.zeros(2)), (2 * np.eye(2), 2 * np.ones(2))]
    >>> maps = {"one": pf.maps.matrices(corner, X), "two": pf.maps.matrices(twice, X)}
    >>> table = pf.maps.transfer_table(maps, test=maps, y=maps["one"].predict())
    >>> table.accuracy.diagonal(), bool(table.residual.max() < 1)
    (array([1., 1.]), True)
    """
    check_ridge(ridge)
    names = tuple(maps)
    if not names or set(test) != set(names):
        raise ShapeError(f"maps has networks {list(names)} and test has {list(test)}: give the same ones, at least one")
    for group in (maps, test):
        for name in names[1:]:
            check_pair(group[names[0]], group[name])
    outputs = maps[names[0]].outputs
    if test[names[0]].outputs != outputs:
        raise ShapeError(f"maps has outputs {list(outputs)} and test has {list(test[names[0]].outputs)}")
    tables = []
    X = test[names[0]].X
    for number, j in enumerate(outputs, start=1):
        tables.append(
            output_table([maps[name].of(j) for name in names], [test[name].of(j) for name in names], X, ridge)
        )
        running().tell(number, len(outputs), "outputs")
    return answered(together(names, outputs, tables, y), maps[names[0]].evidence)


def together(
    names: tuple[str, ...], outputs: tuple[int, ...], tables: list[OutputTable], y: ArrayLike
) -> TransferTable:
    """The table of all outputs from those of each."""
    chosen = np.asarray(outputs)[np.stack([table.values for table in tables]).argmax(axis=0)]
    accuracy = np.array([[share_right(one, y) for one in row] for row in chosen])
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
