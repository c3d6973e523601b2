"""Real numbers out of whatever a user has them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from polyfold.errors import DataError, ShapeError


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
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value.is_integer() else None


def real_array(what: str, values: Any) -> npt.NDArray[np.float64]:
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
