"""What changes over training as scenes: lines over steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polyfold.domain.domain import DomainLike
from polyfold.errors import PolyfoldError, ShapeError, how_many
from polyfold.plotting.scene.shapes import Axes, Curve, Part, Scene
from polyfold.training.boundary_movement import BoundaryMovement
from polyfold.training.cell_counts import cell_counts
from polyfold.training.map_drift import MapDrift
from polyfold.training.recording import Recording

# Inputs that get a line each; of more, the middle and the spread are shown.
_MOST_LINES = 8


def count_curve(recording: Recording, *, domain: DomainLike = None, counts: Any = None, snapshots: Any = None) -> Scene:
    """How many cells a domain has at the snapshots of a recording; `counts` are those of `training.cell_counts`."""
    steps = recording.steps if snapshots is None else recording.steps[np.asarray(snapshots)]
    found = np.asarray(cell_counts(recording, domain, snapshots=snapshots) if counts is None else counts)
    if found.shape != steps.shape:
        raise ShapeError(f"counts= must be a number for each of the {how_many(len(steps), 'snapshot')}: {found.shape}")
    heights = found.astype(np.float64)
    return Scene((Curve(np.column_stack([steps, heights])),), Axes(("step", "cells")), "Cells over training")


def movement_curves(found: BoundaryMovement, *, of: str = "shift") -> Scene:
    """`of` is "shift" or "changed" (from the step before), "length" (of the boundary), or "areas" (of all classes)."""
    steps = found.steps.astype(np.float64)
    if of in ("shift", "changed"):
        label = "mean shift of the boundary" if of == "shift" else "volume whose class changed"
        parts: tuple[Part, ...] = (Curve(np.column_stack([steps[1:], getattr(found, of)]), name=label),)
    elif of == "length":
        label = "measure of the boundary"
        parts = (Curve(np.column_stack([steps, found.length]), name=label),)
    elif of == "areas":
        label = "volume of a class"
        parts = tuple(
            Curve(np.column_stack([steps, found.areas[:, k]]), name=f"class {k}", number=k)
            for k in range(found.areas.shape[1])
        )
    else:
        raise PolyfoldError(f"of must be 'shift', 'changed', 'length' or 'areas', got {of!r}")
    notes = []
    if of == "shift" and np.isnan(found.shift).any():
        notes.append("There is no boundary, and no shift, where the line is broken.")
    return Scene(parts, Axes(("step", label)), "The decision boundary over training", tuple(notes))


def drift_curves(found: MapDrift, *, of: str = "relative", inputs: Sequence[int] | None = None) -> Scene:
    """`of` is "relative", "distance" or "switched" (from the step before), or "norm"; a line for each of few inputs."""
    labels = {
        "relative": "distance of maps by their norm",
        "distance": "distance of maps",
        "switched": "gates that switched",
        "norm": "norm of maps",
    }
    if of not in labels:
        raise PolyfoldError(f"of must be one of {', '.join(map(repr, labels))}, got {of!r}")
    values = np.asarray(getattr(found, of), dtype=np.float64)
    steps = (found.steps if of == "norm" else found.steps[1:]).astype(np.float64)
    count = values.shape[1]
    notes: list[str] = []
    if inputs is not None or count <= _MOST_LINES:
        chosen = range(count) if inputs is None else inputs
        for i in chosen:
            if isinstance(i, bool) or not isinstance(i, int | np.integer) or not 0 <= i < count:
                raise PolyfoldError(f"there is no input {i!r}: there are {count}, counted from 0")
        lines = [(f"input {i}", values[:, i]) for i in chosen]
    else:
        lines = [
            (name, np.quantile(values, share, axis=1))
            for name, share in (("largest tenth", 0.9), ("median", 0.5), ("smallest tenth", 0.1))
        ]
        notes.append(f"Of {how_many(count, 'input')}: the median, and what a tenth of them exceed or stay below.")
    parts = tuple(Curve(np.column_stack([steps, line]), name=name, number=k) for k, (name, line) in enumerate(lines))
    return Scene(parts, Axes(("step", labels[of])), "Local maps over training", tuple(notes))


def metric_curves(recording: Recording, names: Sequence[str] | None = None) -> Scene:
    """What was logged while a recording was made, such as losses."""
    if not recording.metrics:
        raise PolyfoldError("nothing was logged in this recording: recorder.step(loss=...) logs a number")
    unknown = [name for name in names or () if name not in recording.metrics]
    if unknown:
        raise PolyfoldError(f"nothing was logged as {unknown[0]!r}: there are {', '.join(recording.metrics)}")
    chosen = {name: recording.metrics[name] for name in names or recording.metrics}
    parts = tuple(
        Curve(np.column_stack([each.steps, each.values]), name=name, number=k)
        for k, (name, each) in enumerate(chosen.items())
    )
    return Scene(parts, Axes(("step", ", ".join(chosen))), "Training")
