"""Labels of points from CSV files: one a line."""

from __future__ import annotations

import csv
from pathlib import Path

from polyfold._base.inputs import whole_number_in
from polyfold.errors import ShapeError, how_many


def read_labels(path: Path, count: int) -> list[str] | list[int]:
    """A label for each point, as numbers if all are whole; a line more than there are points is a heading."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [(number, line) for number, line in enumerate(csv.reader(file), 1) if any(map(str.strip, line))]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ShapeError(f"{str(path)!r} cannot be read as a CSV file: {reason}") from None
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
            "give one a line"
        )
    numbers = [whole_number_in(label) for label in found]
    return found if None in numbers else [number for number in numbers if number is not None]
