"""CSV files: points, labels and boxes, one per line, and names of the columns in front if there are any.

Whatever is wrong is said with its line and column.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from math import isfinite, isinf
from pathlib import Path

import numpy as np

from polyfold._base.inputs import number_in, whole_number_in
from polyfold._base.types import Array
from polyfold.domain.domain import Box
from polyfold.errors import DomainError, ShapeError, how_many


@dataclass(frozen=True, eq=False)
class Points:
    """The rows of a file, and the names of its columns if it has any."""

    path: Path
    rows: Array
    names: tuple[str, ...] | None


def read_points(path: Path, width: int) -> Points:
    """The points of a file, `width` numbers each."""
    lines = _lines(path)
    names = None
    if lines and not any(number_in(text) is not None for text in lines[0][1]):
        names = _names(path, lines.pop(0)[1], width)
    if not lines:
        raise ShapeError(f"{str(path)!r} holds no points: it needs a line of {how_many(width, 'number')} for each")
    rows = np.array([_row(path, number, line, names, width) for number, line in lines])
    return Points(path, rows, names)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Points with what the file says about each: `labels` is None if it has no column for that."""

    points: Points
    labels: tuple[str, ...] | None


def read_labelled(path: Path, width: int) -> Labelled:
    """The points of a file, and their labels if it has one column more than the network takes: the last one."""
    lines = _lines(path)
    if not lines or any(len(line) != width + 1 for _, line in lines):
        return Labelled(read_points(path, width), None)
    names = None
    if not any(number_in(text) is not None for text in lines[0][1]):
        *first, last = lines.pop(0)[1]
        names = _names(path, first, width)
        if last.strip() in ("", *names):
            raise ShapeError(f"{str(path)!r} calls its column of labels {last.strip()!r}: give it a name of its own")
    if not lines:
        raise ShapeError(f"{str(path)!r} holds no points: it needs a line of {how_many(width, 'number')} for each")
    rows = np.array([_row(path, number, line[:-1], names, width) for number, line in lines])
    labels = []
    for number, line in lines:
        if not line[-1].strip():
            raise ShapeError(f"line {number} of {str(path)!r} has no label: column {width + 1} is empty")
        labels.append(line[-1].strip())
    return Labelled(Points(path, rows, names), tuple(labels))


def read_labels(path: Path, count: int) -> list[str] | list[int]:
    """A label for each point, as numbers if all are whole; a line more than there are points is a heading."""
    lines = _lines(path)
    for number, line in lines:
        if len(line) != 1:
            raise ShapeError(
                f"line {number} of {str(path)!r} has {how_many(len(line), 'value')} ({','.join(line)}): a label is one"
            )
    found = [line[0].strip() for _, line in lines]
    if len(found) == count + 1:
        found = found[1:]
    if len(found) != count:
        raise ShapeError(
            f"{str(path)!r} has {how_many(len(found), 'label')}, and there are {how_many(count, 'point')}: "
            "give one per line"
        )
    numbers = [whole_number_in(label) for label in found]
    return found if None in numbers else [number for number in numbers if number is not None]


def read_box(path: Path) -> Box:
    """A box from a file with a line `lo,hi` for every input."""
    try:
        bounds = np.array([[bound(lo), bound(hi)] for lo, hi in (line for _, line in _lines(path))])
    except ValueError:
        raise DomainError(
            f"the box file {str(path)!r} must hold one row 'lo,hi' of two numbers for every input"
        ) from None
    if not len(bounds):
        raise DomainError(f"the box file {str(path)!r} is empty: it needs one row 'lo,hi' for every input")
    return Box(bounds[:, 0], bounds[:, 1])


def bound(text: str) -> float:
    """A bound as it is written; only what says so is infinite, and not what floats are too small for."""
    found = float(text)
    if isinf(found) and "inf" not in text.lower():
        raise DomainError(f"the bound {text} is larger than floats can be: write inf for a side that is open")
    return found


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers in the file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            return [(reader.line_num, line) for line in reader if any(text.strip() for text in line)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ShapeError(f"{str(path)!r} cannot be read as a CSV file: {reason}") from None


def _names(path: Path, line: list[str], width: int) -> tuple[str, ...]:
    names = tuple(text.strip() for text in line)
    if len(names) != width:
        raise ShapeError(
            f"{str(path)!r} has {how_many(len(names), 'column')} ({', '.join(names)}), and the network takes "
            f"{how_many(width, 'number')}: leave out what is no input"
        )
    for name in names:
        if not name or names.count(name) > 1:
            raise ShapeError(f"{str(path)!r} names its columns {', '.join(map(repr, names))}: names must differ")
    return names


def _row(path: Path, number: int, line: list[str], names: tuple[str, ...] | None, width: int) -> list[float]:
    if len(line) != width:
        raise ShapeError(
            f"line {number} of {str(path)!r} has {how_many(len(line), 'value')} ({','.join(line)}), and the network "
            f"takes {how_many(width, 'number')}"
        )
    found = []
    for k, text in enumerate(line):
        value = number_in(text)
        column = f"column {k + 1}" if names is None else f"column {k + 1} ({names[k]})"
        if value is None:
            raise ShapeError(f"line {number}, {column} of {str(path)!r} is not a number: {text!r}")
        if not isfinite(value):
            raise ShapeError(
                f"line {number}, {column} of {str(path)!r} is {text.strip()!r}: it must be a finite number"
            )
        found.append(value)
    return found
