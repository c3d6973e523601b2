"""How things look: colours that colour-blind people can tell apart, and one look for every role.

>>> class_colour(1), soft("#000000")
('#e69f00', '#8c8c8c')
>>> scale_colours([0.0, 1.0])
['#440154', '#fde725']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from polyfold._base.types import Array, Ids
from polyfold.plotting.scene.shapes import Bars, Colouring, Curve, Role, Scene

# The palette of Okabe and Ito, without its black and with its yellow darkened, so that it shows on white.
CLASS_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a900", "#6a51a3")
# A scale that grows in lightness alone, too, from dark blue to yellow, in equal steps.
SCALE = ("#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725")
# For numbers around zero: blue below, red above.
SIGNED_SCALE = ("#2166ac", "#67a9cf", "#d1e5f0", "#f7f7f7", "#fddbc7", "#ef8a62", "#b2182b")
GREY_SCALE = ("#ffffff", "#000000")
UNKNOWN = "#dedede"
INK, FAINT = "#262626", "#6e6e6e"
# More different values than these share colours: renderers that need something for each colour stay quick.
MOST_COLOURS = 64
# From this many pieces on they have no outlines.
PLAIN_FROM = 20_000
# What part of white is mixed into the colour of a class where it fills an area, so that data stand out on it.
_WHITE = 0.55


@dataclass(frozen=True)
class Look:
    """Of what has no colouring: a colour; and the width of lines (points), the size of dots, and opacity."""

    colour: str
    width: float = 1.0
    size: float = 6.0
    opacity: float = 1.0


LOOKS: dict[Role, Look] = {
    "cell": Look("#dbe7f0", width=0.6),
    "patch": Look("#dbe7f0", width=0.0),
    "wall": Look("#1f4e79", width=1.4),
    "earlier": Look("#b4b4b4", width=0.9),
    "boundary": Look("#101010", width=2.4),
    "data": Look("#262626", size=6.5),
    "edge": Look("#8a8a8a", width=0.8),
    "box": Look("#d55e00", width=1.4, opacity=0.35),
    "surface": Look("#9ecae1", width=0.6),
    "curve": Look("#0072b2", width=2.0),
    "marked": Look("#d55e00", width=2.2, size=9.0),
}


@dataclass(frozen=True, eq=False)
class Shades:
    """Colours of shapes: shape i has colours[group[i]]; `names` says what a colour means, for a legend, or nothing.

    `limits` are the ends of the scale if there is one. `shared` says that different values may have one colour.
    """

    group: Ids
    colours: tuple[str, ...]
    names: tuple[str, ...]
    label: str = ""
    limits: tuple[float, float] | None = None
    shared: bool = False


def class_colour(number: int) -> str:
    """The colour of a class, of a name, of a set of points."""
    return CLASS_COLOURS[number % len(CLASS_COLOURS)] if number >= 0 else UNKNOWN


def soft(colour: str) -> str:
    """The colour, with white mixed in, for areas."""
    return _hex(_rgb(colour) * (1 - _WHITE) + 255 * _WHITE)


def scale_colours(shares: Any, scale: tuple[str, ...] = SCALE) -> list[str]:
    """Colours at places from 0 to 1 along a scale; grey for NaN."""
    at = np.asarray(shares, dtype=np.float64)
    stops = np.array([_rgb(colour) for colour in scale])
    place = np.linspace(0, 1, len(scale))
    channels = np.stack([np.interp(at, place, stops[:, k]) for k in range(3)], axis=-1)
    return [UNKNOWN if np.isnan(a) else _hex(c) for a, c in zip(at.ravel(), channels.reshape(-1, 3), strict=True)]


def shades(colouring: Colouring | None, count: int, role: Role, *, area: bool = False) -> Shades:
    """The colours of `count` shapes; those of names are softer on areas."""
    if colouring is None:
        return Shades(np.zeros(count, dtype=np.int64), (LOOKS[role].colour,), ("",))
    values = np.asarray(colouring.values, dtype=np.float64)
    return _of_names(colouring, values, area) if colouring.names is not None else _on_a_scale(colouring, values)


def colour_notes(scene: Scene) -> tuple[str, ...]:
    """That different values have one colour, where they do."""
    for part in scene.parts:
        if not isinstance(part, Curve | Bars) and part.colouring is not None:
            values = part.colouring
            if values.names is None and shades(values, len(values.values), part.role).shared:
                return (f"Colours are in {MOST_COLOURS} steps: close values share one.",)
    return ()


def _of_names(colouring: Colouring, values: Array, area: bool) -> Shades:
    names = colouring.names or ()
    number = np.where(np.isnan(values), -1.0, values).astype(np.int64)
    number[(number < 0) | (number >= len(names))] = -1
    present, group = np.unique(number, return_inverse=True)
    colours = [class_colour(int(k)) for k in present]
    if area:
        colours = [soft(colour) if k >= 0 else colour for colour, k in zip(colours, present, strict=True)]
    said = tuple(names[k] if k >= 0 else "" for k in present)
    return Shades(group.astype(np.int64), tuple(colours), said, colouring.label)


def _on_a_scale(colouring: Colouring, values: Array) -> Shades:
    known = np.isfinite(values)
    if not known.any():
        return Shades(np.zeros(len(values), dtype=np.int64), (UNKNOWN,), ("",), colouring.label)
    lo, hi = colouring.limits or (float(values[known].min()), float(values[known].max()))
    # Halves, since the difference of two large floats may be no float.
    half = hi / 2 - lo / 2
    share = np.full(len(values), np.nan)
    share[known] = np.clip((values[known] / 2 - lo / 2) / half, 0, 1) if half > 0 else 0.5
    distinct = np.unique(share[known])
    shared = len(distinct) > MOST_COLOURS
    if shared:
        step = np.minimum(np.floor(share * MOST_COLOURS), MOST_COLOURS - 1)
        share = (step + 0.5) / MOST_COLOURS
    present, group = np.unique(share, return_inverse=True)
    colours = tuple(scale_colours(present))
    return Shades(group.astype(np.int64), colours, ("",) * len(colours), colouring.label, (lo, hi), shared)


def _rgb(colour: str) -> Array:
    return np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], dtype=np.float64)


def _hex(channels: Array) -> str:
    return "#" + "".join(f"{round(float(c)):02x}" for c in channels)
