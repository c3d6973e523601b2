"""What is uploaded: networks, saved atlases and recordings as files, data as CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from polyfold._base.inputs import number_in
from polyfold.errors import LimitError, ShapeError, how_many
from polyfold.explorer.limits import Limits
from polyfold.explorer.networks import ENDINGS, Source
from polyfold.explorer.pool import Job
from polyfold.explorer.sessions import Data, Known, Session, Sessions

# A column of this name is no input.
LABEL_NAMES = ("label", "class", "target", "species")


@dataclass(frozen=True, eq=False)
class Reading:
    """A file that a worker is to look over: the job, the file, and what its owner calls it."""

    job: Job
    path: Path
    name: str


def begin_reading(sessions: Sessions, session: Session, name: str, content: bytes, limits: Limits) -> Reading:
    """Keep a file and have a worker read it."""
    shown = Path(name.replace("\\", "/")).name[:100] or "unnamed"
    if len(session.networks) >= limits.uploads:
        raise LimitError(f"a session may hold {limits.uploads} uploads: remove one of them first")
    ending = Path(shown).suffix.lower()
    path = session.new_file(ending if ending in ENDINGS else ".unknown")
    try:
        path.write_bytes(content)
        job = sessions.start(session, {"kind": "read", "file": str(path), "name": shown})
    except BaseException:
        path.unlink(missing_ok=True)  # of no use to anybody, whether the queue or the disk is full
        raise
    return Reading(job, path, shown)


def finish_reading(session: Session, reading: Reading) -> Known:
    """The network of a file that was read; raises one of our errors if it is nothing that can be looked at."""
    job, path = reading.job, reading.path
    with session.lock:
        session.jobs.pop(job.id, None)
        if job.state != "done" or job.result is None:
            path.unlink(missing_ok=True)
            raise ShapeError(job.error or "the file could not be read")
        known = Known(job.id, reading.name, "uploaded", Source(file=str(path)), job.result)
        session.networks[known.id] = known
    return known


def read_data(content: bytes, limits: Limits) -> Data:
    """Points, a line each; names of the columns in front if there are any; a column of labels if it is named so."""
    try:
        text = content.decode("utf-8-sig")
        lines = [line for line in csv.reader(io.StringIO(text)) if any(field.strip() for field in line)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ShapeError(f"this cannot be read as a CSV file: {error}") from None
    columns = None
    if lines and not any(number_in(field) is not None for field in lines[0]):
        columns = [field.strip()[:60] for field in lines.pop(0)]
    if not lines:
        raise ShapeError("this CSV file holds no points: it needs a line of numbers for each")
    if len(lines) > limits.data_rows:
        raise LimitError(f"this CSV file has {len(lines):,} lines; {limits.data_rows:,} at most can be shown")
    width = len(lines[0])
    label = next((k for k, name in enumerate(columns or ()) if name.lower() in LABEL_NAMES), None)
    rows, labels = [], []
    for number, line in enumerate(lines, start=1 if columns is None else 2):
        if len(line) != width:
            raise ShapeError(f"line {number} has {how_many(len(line), 'value')}, and the first one has {width}")
        rows.append([_checked(field, number, k) for k, field in enumerate(line) if k != label])
        if label is not None:
            labels.append(line[label].strip()[:60])
    if columns is not None and label is not None:
        columns = [name for k, name in enumerate(columns) if k != label]
    return Data(np.array(rows), labels if label is not None else None, columns)


def _checked(field: str, line: int, column: int) -> float:
    value = number_in(field)
    if value is None or not isfinite(value):
        raise ShapeError(f"line {line}, column {column + 1} is not a finite number: {field.strip()[:60]!r}")
    return value
