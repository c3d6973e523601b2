"""What users give: rows, labels and names in lists, arrays, tensors or data frames, and numbers of things in a row.

One vector is one row. The columns of a data frame are matched by their names, or refused. What does not fit is quoted,
with its shape and its place. The number of a thing that is not there is an error; of most things -1 is the last one.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold._base.types import Array, Ids
from polyfold._base.words import names_for
from polyfold.errors import DataError, PolyfoldError, ShapeError, how_many


def rows_of(
    X: Any,
    width: int | None,
    *,
    what: str = "X",
    names: Sequence[str] | None = None,
    shape: tuple[int, ...] | None = None,
    finite: bool = True,
    single: bool = False,
) -> npt.NDArray[Any]:
    """X as a matrix of floats (n, width): a new one, unless float32 is kept.

    Parameters
    ----------
    X : ArrayLike
        Rows of any shape with `width` numbers each, or one such row.
    width : int, optional
        How many numbers a row has; None if as many as there are, at least one.
    what : str
        What X is called in errors.
    names : sequence of str, optional
        Of the columns: those of a data frame must be these, in any order.
    shape : tuple of int, optional
        Of one row, if it is no vector: an array of this shape is one row.
    finite : bool
        Whether NaN and infinite numbers are refused.
    single : bool
        Whether float32 stays float32, and float64 is not copied.

    >>> rows_of([1, 2], 2), rows_of([[1, 2], [3, 4]], 2).shape
    (array([[1., 2.]]), (2, 2))
    >>> rows_of([[1, 2], [3, float("nan")]], 2)
    Traceback (most recent call last):
    polyfold.errors.ShapeError: X[1, 1] is nan: every entry must be a finite number
    """
    wanted = f"{what} must be rows of {'numbers' if width is None else how_many(width, 'number')}"
    try:
        array = _numbers(wanted, _in_order(X, names, what), single)
    except ShapeError as error:
        alone = not isinstance(X, str) and np.asarray(X, dtype=object).ndim == 0
        raise ShapeError(f"{error}; give a domain by its name, domain=..." if alone else str(error)) from None
    if width is None:
        width = array.shape[-1] if 1 <= array.ndim <= 2 else 0
    one_row = array.ndim > 0 and array.size == width and (array.ndim == 1 or array.shape == shape)
    # Of one number each, a vector is as many rows.
    several = array.ndim > 0 and prod(array.shape[1:]) == width and (array.ndim > 1 or width == 1)
    if not width or (not one_row and not several):
        raise ShapeError(f"{wanted}, or one such row; its shape is {array.shape}")
    rows = array.reshape(1 if one_row else len(array), width)
    if finite:
        _check_finite(what, rows)
    return rows


def features_of(given: Sequence[str] | None, X: Any, count: int, letter: str = "x") -> tuple[str, ...]:
    """Names of the features: those given, or else those of a data frame's columns, or else letters with numbers.

    With `rows_of(X, count, names=...)` of these the columns of a frame are matched with names that were given.

    >>> features_of(None, [[1.0, 2.0]], 2)
    ('x0', 'x1')
    """
    return names_for(_column_names(X) if given is None else given, count, letter, "feature")


def _column_names(X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a data frame, or of the entries of one of its rows; None if these are only counted,
    and of anything else."""
    if not hasattr(X, "to_numpy"):
        return None
    if not hasattr(X, "columns"):
        return _index_names(X)
    columns = list(X.columns)
    return None if columns == list(range(len(columns))) else tuple(str(name) for name in columns)


def _in_order(X: Any, names: Sequence[str] | None, what: str) -> Any:
    """The numbers of a data frame or of one of its rows, its columns in the order of the names; others as they are."""
    if not hasattr(X, "to_numpy"):
        return X
    found = _column_names(X)
    values = X.to_numpy()
    if found is None:
        return values
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise ShapeError(f"{what} has two columns named {twice!r}: names must differ")
    for place, name in enumerate(found if values.dtype == object else ()):
        real_array(f"column {name!r} of {what} must be numbers", values[..., place])
    if names is None:
        return values
    for some, others, words in ((names, found, "lacks the column"), (found, names, "has a column too many,")):
        wrong = next((name for name in some if name not in others), None)
        if wrong is not None:
            raise ShapeError(f"{what} {words} {wrong!r}: the columns must be {', '.join(names)}, in any order")
    return values[..., [found.index(name) for name in names]]


def _index_names(row: Any) -> tuple[str, ...] | None:
    """The names of the entries of one row of a data frame."""
    index = list(getattr(row, "index", ())) if not callable(getattr(row, "index", None)) else []
    return tuple(index) if index and all(isinstance(name, str) for name in index) else None


def _numbers(what: str, values: Any, single: bool = False) -> npt.NDArray[Any]:
    """Float64; or as they are, if they are floats already."""
    if not single:
        return real_array(what, values)
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    kept = isinstance(values, np.ndarray) and values.dtype in (np.float32, np.float64)
    return values if kept else real_array(what, values)


def _check_finite(what: str, rows: npt.NDArray[Any]) -> None:
    # A sum that is finite is one of finite numbers; only others are looked at one by one.
    with np.errstate(over="ignore", invalid="ignore"):
        total = rows.sum()
    if np.isfinite(total) or np.isfinite(rows).all():
        return
    row, column = np.argwhere(~np.isfinite(rows))[0].tolist()
    raise ShapeError(f"{what}[{row}, {column}] is {rows[row, column]}: every entry must be a finite number")


def labels_of(y: Any, count: int, *, what: str = "y", of: str = "X") -> npt.NDArray[Any]:
    """One label for each of `count` rows: all of them numbers or all of them texts; a column is as good as a vector.

    >>> labels_of(["a", "b"], 2).tolist(), labels_of([[1], [0]], 2).tolist()
    (['a', 'b'], [1, 0])
    """
    values = labels_of_one_kind(what, y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (count,):
        rows = how_many(count, "row")
        raise ShapeError(f"{what} must have one label per row of {of}, which has {rows}; its shape is {values.shape}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        place = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ShapeError(f"{what}[{place}] is {values[place]}: a label must be a finite number or a text")
    return values


def classes_of(y: Any, count: int, *, what: str = "y", of: str = "X") -> tuple[tuple[Any, ...], Ids]:
    """The distinct labels in order, and for each of `count` rows the place of its label among them.

    >>> classes_of(["b", "a", "b"], 3)
    (('a', 'b'), array([1, 0, 1]))
    """
    values = labels_of(y, count, what=what, of=of)
    try:
        labels, numbers = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise DataError(f"the labels {what} cannot be sorted ({error}): give numbers or texts") from None
    return tuple(labels.tolist()), numbers.astype(np.int64)


def class_numbers(y: Any, count: int, classes: int, *, what: str = "y", of: str = "X") -> Ids:
    """Labels that are numbers of classes.

    >>> class_numbers([1.0, 0], 2, 2)
    array([1, 0])
    >>> class_numbers([1, 2], 2, 2)
    Traceback (most recent call last):
    polyfold.errors.ShapeError: y[1] is 2: labels must be numbers of classes, 0 to 1
    """
    values = labels_of(y, count, what=what, of=of)
    known = np.isin(values, np.arange(classes)) if values.dtype.kind in "biuf" else np.zeros(len(values), dtype=bool)
    if not known.all():
        place = int(np.flatnonzero(~known)[0])
        raise ShapeError(
            f"{what}[{place}] is {values[place].item()!r}: labels must be numbers of classes, 0 to {classes - 1}"
        )
    return values.astype(np.int64)


def labels_of_one_kind(what: str, values: Any) -> npt.NDArray[Any]:
    """Labels as an array: all of them numbers or all of them texts, because 1 and "1" would be two classes or one.

    >>> labels_of_one_kind("y", [1.0, 2])
    array([1., 2.])
    >>> labels_of_one_kind("y", [1, "1"])
    Traceback (most recent call last):
    polyfold.errors.DataError: y[0] is 1 and y[1] is '1': labels must be all numbers or all texts
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    listed = values if isinstance(values, list | tuple) else []
    if isinstance(values, np.ndarray) and values.dtype == object:
        listed = values.ravel().tolist()
    texts = [isinstance(value, str) for value in listed]
    if any(texts) and not all(texts):
        first, other = sorted((texts.index(True), texts.index(False)))
        raise DataError(
            f"{what}[{first}] is {listed[first]!r} and {what}[{other}] is {listed[other]!r}: "
            "labels must be all numbers or all texts"
        )
    return np.asarray(values)


def whole_number_in(text: str) -> int | None:
    """The whole number that a text means; None if it means none.

    >>> whole_number_in("1"), whole_number_in("1.0"), whole_number_in("1.5"), whole_number_in("a")
    (1, 1, None, None)
    """
    try:
        return int(text)
    except ValueError:
        pass
    value = number_in(text)
    return int(value) if value is not None and value.is_integer() else None


def number_in(text: str) -> float | None:
    """The number that a text means, infinities and NaN among them; None if it means none."""
    try:
        return float(text)
    except ValueError:
        return None


def real_array(what: str, values: Any) -> Array:
    """A new float64 array of lists, arrays or tensors (with gradients, on any device), or an error that quotes `what`.

    >>> real_array("inputs", [[1, 2]])
    array([[1., 2.]])
    """
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu().double().numpy()
        found = np.array(values)
        if np.iscomplexobj(found):
            raise TypeError("these numbers are complex")
        return np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ShapeError(f"{what}: {error}") from None


def one_of(number: Any, count: int, thing: str, owner: str) -> int:
    """The number of one of `count` things, counted from zero.

    >>> one_of(-1, 3, "cell", "the atlas")
    2
    """
    found = operator.index(number)
    if not -count <= found < count:
        raise IndexError(f"there is no {thing} {number}: {owner} has {count}")
    return found % count


def one_output(number: Any, count: int) -> int:
    """The number of one of a network's outputs, counted from zero and in no other way.

    Outputs are names of functions rather than places in a row: what is asked about -1, True or 0.0 is a slip.

    >>> one_output(1, 3)
    1
    """
    if not isinstance(number, Integral) or isinstance(number, bool) or not 0 <= int(number) < count:
        raise PolyfoldError(
            f"there is no output {number!r}: the network has {how_many(count, 'output')}, counted from 0"
        )
    return int(number)


def some_outputs(numbers: Any, count: int) -> tuple[int, ...]:
    """The numbers of one or several outputs.

    >>> some_outputs(1, 3), some_outputs([2, 0], 3)
    ((1,), (2, 0))
    """
    several = np.iterable(numbers) and not isinstance(numbers, str)
    return tuple(one_output(number, count) for number in (numbers if several else [numbers]))


def place_of_output(number: Any, outputs: Sequence[int], things: str) -> int:
    """The place of an output among those of which there is something."""
    if not isinstance(number, Integral) or isinstance(number, bool) or int(number) not in outputs:
        raise PolyfoldError(f"there are no {things} of output {number!r}: there are those of {list(outputs)}")
    return outputs.index(int(number))
