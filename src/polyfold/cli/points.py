"""Points from CSV files: one point a line, and names of the columns in front if there are any."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
import numpy.typing as npt

from polyfold.errors import ShapeError, how_many

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Points:
    """The rows of a file, and the names of its columns if it has any."""

    path: Path
    rows: Array
    names: tuple[str, ...] | None


def read_points(path: Path, width: int) -> Points:
    """The points of a file, `width` numbers each; whatever is wrong is said with its line and column."""
    lines = _lines(path)
    names = None
    if lines and not any(_number(text) is not None for text in lines[0][1]):
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
    if not any(_number(text) is not None for text in lines[0][1]):
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
        value = _number(text)
        column = f"column {k + 1}" if names is None else f"column {k + 1} ({names[k]})"
        if value is None:
            raise ShapeError(f"line {number}, {column} of {str(path)!r} is no number: {text!r}")
        if not isfinite(value):
            raise ShapeError(
                f"line {number}, {column} of {str(path)!r} is {text.strip()!r}: it must be a finite number"
            )
        found.append(value)
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
