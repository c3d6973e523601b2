"""`pf.plot`: results as figures. What can be drawn of what is a table, `KINDS`; each line names who makes the scene."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any

from polyfold.errors import PolyfoldError
from polyfold.views.render.files import RENDERERS, check_path, render, write
from polyfold.views.scene.shapes import Drawing, Grid, Panels, Scene


@dataclass(frozen=True)
class Kind:
    """One line of the table: a type of result by its name, what to draw of it, and the function that makes the scene.

    `dims` are the dimensions of the domain (`thing.dim`, or that of its atlas) that it is for; None is all. The first
    line that fits a thing is what `plot` draws unless a kind is asked for.
    """

    of: str
    name: str
    made_by: str  # "module:function" below polyfold.views.scene, imported when it is asked for
    dims: tuple[int, ...] | None = None


KINDS: tuple[Kind, ...] = (
    Kind("Atlas", "cells", "cells:cells_scene", (2,)),
    Kind("Atlas", "folds", "folds:folds_scene", (2,)),
    Kind("Regions", "regions", "cells:regions_scene", (2,)),
    Kind("Classes", "classes", "cells:classes_scene", (2,)),
    Kind("DecisionBoundary", "boundary", "cells:boundary_scene", (2,)),
    Kind("Boxes", "boxes", "cells:boxes_scene", (2,)),
)


def plot(
    thing: Any,
    *,
    kind: str | None = None,
    renderer: str = "plotly",
    path: str | PathLike[str] | None = None,
    **options: Any,
) -> Any:
    """A figure of a result: an atlas, its regions, its classes, its decision boundary, boxes and more.

    Parameters
    ----------
    thing: what an analysis of polyfold gives.
    kind: what to draw of it, if there is a choice; docs/plots.md lists all, and so does the error for a wrong one.
    renderer: "plotly" for figures to move about in, "matplotlib" for print.
    path: a file to write as well: .html (opens without a network connection) or .json by Plotly; .png, .svg or .pdf by
        matplotlib.
    options: depend on the kind. Most take `title`.

    >>> import polyfold as pf
    >>> from polyfold.data import iris
    >>> figure = pf.plot(pf.unfold(iris(), pf.box(0, 8)), colour="class")
    >>> type(figure).__name__
    'Figure'
    """
    if renderer not in RENDERERS:
        raise PolyfoldError(f"renderer={renderer!r} is none: use {' or '.join(map(repr, RENDERERS))}")
    if path is not None:
        check_path(path, renderer)
    figure = render(scene_of(thing, kind, **options), renderer)
    if path is not None:
        write(figure, path, renderer)
    return figure


def scene_of(thing: Any, kind: str | None = None, **options: Any) -> Drawing:
    """The scene that `plot` draws."""
    if isinstance(thing, Scene | Panels | Grid):
        if kind is not None or options:
            raise PolyfoldError("a scene is drawn as it is: it has no kinds and no options")
        return thing
    make = _maker(_chosen(thing, kind))
    known = inspect.signature(make).parameters
    for name in options:
        if name not in known:
            valid = ", ".join(list(known)[1:])
            raise PolyfoldError(f"{name}={options[name]!r} is no option here: there are {valid}")
    drawing: Drawing = make(thing, **options)
    return drawing


def kinds_of(thing: Any) -> list[Kind]:
    """What can be drawn of a thing; the first one is drawn unless another one is asked for."""
    names = {base.__name__ for base in type(thing).__mro__ if base.__module__.startswith("polyfold.")}
    dim = getattr(thing, "dim", getattr(getattr(thing, "atlas", None), "dim", None))
    dim = getattr(getattr(getattr(thing, "classes", None), "atlas", None), "dim", dim)
    return [kind for kind in KINDS if kind.of in names and (kind.dims is None or dim in kind.dims)]


def _chosen(thing: Any, name: str | None) -> Kind:
    fitting = kinds_of(thing)
    if not fitting:
        raise PolyfoldError(_nothing_to_draw(thing))
    for kind in fitting:
        if name in (None, kind.name):
            return kind
    valid = ", ".join(repr(kind.name) for kind in fitting)
    raise PolyfoldError(f"kind={name!r} cannot be drawn of this {type(thing).__name__}: use one of {valid}")


def _nothing_to_draw(thing: Any) -> str:
    known = type(thing).__name__
    dims = sorted({dim for kind in KINDS if kind.of == known for dim in kind.dims or ()})
    if dims:
        said = " or ".join(map(str, dims))
        return (
            f"{thing!r} cannot be drawn as it is: that needs a domain of dimension {said}; pf.line and pf.plane cut "
            "such out of larger ones"
        )
    text = " ".join(repr(thing).split())
    text = text if len(text) <= 80 else f"{text[:77]}..."
    valid = ", ".join(dict.fromkeys(kind.of for kind in KINDS))
    return f"{text} cannot be drawn: pf.plot takes {valid}; of a network pf.unfold(network, domain) gives an Atlas"


def _maker(kind: Kind) -> Callable[..., Drawing]:
    module, function = kind.made_by.split(":")
    found: Callable[..., Drawing] = getattr(importlib.import_module(f"polyfold.views.scene.{module}"), function)
    return found
