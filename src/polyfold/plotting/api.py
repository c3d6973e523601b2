"""`pf.plot`: results as figures. What can be drawn of what is a table, `KINDS`; each line names who makes the scene."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeGuard

from polyfold.errors import PolyfoldError
from polyfold.plotting.render.files import RENDERERS, check_path, render, write
from polyfold.plotting.scene.shapes import Drawing, Grid, Panels, Scene


@dataclass(frozen=True)
class Kind:
    """One line of the table: a type of result by its name, what to draw of it, and the function that makes the scene.

    `dims` are the dimensions of the domain (`result.dim`, or that of its atlas) that it is for; None is all. The first
    line that fits a result is what `plot` draws unless a kind is asked for. Where `drawn` is set, the function draws by
    itself, with matplotlib: it gives a figure instead of a scene, and is found below polyfold.plotting.
    """

    of: str
    name: str
    made_by: str  # "module:function" below polyfold.plotting.scene, imported when it is asked for
    dims: tuple[int, ...] | None = None
    drawn: bool = False


KINDS: tuple[Kind, ...] = (
    Kind("Atlas", "cells", "cells:cells_scene", (2,)),
    Kind("Atlas", "cells", "solids:solids_scene", (3,)),
    Kind("Atlas", "graph", "line_graph:line_graph_scene", (1,)),
    Kind("Atlas", "surface", "surface:surface_scene", (2,)),
    Kind("Atlas", "folds", "folds:folds_scene", (2,)),
    Kind("Atlas", "histogram", "histograms:column_histogram"),
    Kind("Atlas", "faces", "histograms:face_bars"),
    Kind("Regions", "regions", "cells:regions_scene", (2,)),
    Kind("Regions", "regions", "solids:solids_scene", (3,)),
    Kind("Classes", "classes", "cells:classes_scene", (2,)),
    Kind("Classes", "classes", "solids:solids_scene", (3,)),
    Kind("Classes", "surface", "surface:surface_scene", (2,)),
    Kind("DecisionBoundary", "boundary", "cells:boundary_scene", (2,)),
    Kind("Boxes", "boxes", "cells:boxes_scene", (2,)),
    Kind("DualSpace", "points", "dual_space:dual_space_scene"),
    Kind("DualGraph", "graph", "dual_graph:dual_graph_scene"),
    Kind("FacetStatistics", "facets", "histograms:facet_histogram"),
    Kind("FacetStatistics", "layers", "histograms:layer_bars"),
    Kind("FacetStatistics", "sizes", "histograms:size_histogram"),
    Kind("LocalMaps", "gradients", "image_grids:gradient_grid"),
    Kind("MapMatrices", "gradients", "image_grids:gradient_grid"),
    Kind("ClusteredMaps", "centres", "image_grids:centre_grid"),
    Kind("Recording", "metrics", "training_curves:metric_curves"),
    Kind("Recording", "cell_counts", "training_curves:count_curve"),
    Kind("BoundaryMovement", "movement", "training_curves:movement_curves"),
    Kind("MapDrift", "drift", "training_curves:drift_curves"),
    Kind("Shapley", "beeswarm", "shap_plots:beeswarm", drawn=True),
    Kind("Shapley", "bar", "shap_plots:bar", drawn=True),
    Kind("Shapley", "waterfall", "shap_plots:waterfall", drawn=True),
    Kind("Shapley", "heatmap", "shap_plots:heatmap", drawn=True),
    Kind("Shapley", "violin", "shap_plots:violin", drawn=True),
    Kind("LocalShapley", "shares", "histograms:share_bars"),
    Kind("Truncation", "film", "film_strip:film_figure", drawn=True),
)


def plot(
    result: Any,
    *,
    kind: str | None = None,
    renderer: str | None = None,
    out: str | PathLike[str] | None = None,
    **options: Any,
) -> Any:
    """A figure of a result: an atlas, its regions, its classes, its decision boundary, boxes and more.

    Parameters
    ----------
    result : Atlas, Regions, Classes, DecisionBoundary ...
        What a question of polyfold gives; docs/plots.md lists all that can be drawn, and so does the error.
    kind : str, optional
        What to draw of it, if there is a choice; docs/plots.md lists all, and so does the error for a wrong one.
    renderer : "plotly" or "matplotlib", optional
        "plotly" for figures to move about in (the default), "matplotlib" for print. Shapley values and film strips are
        drawn by matplotlib alone.
    out : path, optional
        A file to write as well: .html (opens without a network connection) or .json by Plotly; .png, .svg or .pdf by
        matplotlib.
    **options
        Depend on the kind. Most take `title`.

    Returns
    -------
    figure
        That of Plotly or matplotlib.

    Examples
    --------
    >>> import polyfold as pf
    >>> from polyfold.datasets import iris
    >>> figure = pf.plot(pf.unfold(iris(), pf.box(0, 8)), colour="class")
    >>> type(figure).__name__
    'Figure'
    """
    if renderer not in (None, *RENDERERS):
        raise PolyfoldError(f"renderer must be {' or '.join(map(repr, RENDERERS))}, got {renderer!r}")
    alone = not _is_drawing(result) and _chosen(result, kind).drawn
    by = renderer or ("matplotlib" if alone else "plotly")
    if alone and by != "matplotlib":
        raise PolyfoldError(f"{type(result).__name__} is drawn by matplotlib alone: leave out renderer={renderer!r}")
    if out is not None:
        check_path(out, by)
    figure = _made(_chosen(result, kind), result, options) if alone else render(scene_of(result, kind, **options), by)
    if out is not None:
        write(figure, out, by)
    return figure


def scene_of(result: Any, kind: str | None = None, **options: Any) -> Drawing:
    """The scene that `plot` draws."""
    if _is_drawing(result):
        if kind is not None or options:
            raise PolyfoldError("a scene is drawn as it is: it has no kinds and no options")
        return result
    chosen = _chosen(result, kind)
    if chosen.drawn:
        raise PolyfoldError(f"{type(result).__name__} has no scene: matplotlib draws it, as pf.plot gives it")
    drawing: Drawing = _made(chosen, result, options)
    return drawing


def _is_drawing(result: Any) -> TypeGuard[Drawing]:
    return isinstance(result, Scene | Panels | Grid)


def _made(chosen: Kind, result: Any, options: dict[str, Any]) -> Any:
    """What the kind's function makes of a result: a scene, or a figure."""
    make = _maker(chosen)
    known = inspect.signature(make).parameters
    for name in options:
        if name not in known:
            valid = ", ".join(list(known)[1:])
            raise PolyfoldError(f"there is no option {name}={options[name]!r} here: there are {valid}")
    missing = [name for name, each in list(known.items())[1:] if each.default is each.empty and name not in options]
    if missing:
        raise PolyfoldError(f"kind={chosen.name!r} needs {' and '.join(f'{name}=' for name in missing)}")
    return make(result, **options)


def kinds_of(result: Any) -> list[Kind]:
    """What can be drawn of a result; the first one is drawn unless another one is asked for."""
    names = {base.__name__ for base in type(result).__mro__ if base.__module__.startswith("polyfold.")}
    dim = getattr(result, "dim", getattr(getattr(result, "atlas", None), "dim", None))
    dim = getattr(getattr(getattr(result, "classes", None), "atlas", None), "dim", dim)
    return [kind for kind in KINDS if kind.of in names and (kind.dims is None or dim in kind.dims)]


def _chosen(result: Any, name: str | None) -> Kind:
    fitting = kinds_of(result)
    # A picture of the domain itself is what people expect: bars in its place have to be asked for.
    usual = [kind for kind in fitting if kind.dims is not None or not _dims(kind.of)]
    if not fitting or (name is None and not usual):
        raise PolyfoldError(_nothing_to_draw(result, fitting))
    for kind in usual if name is None else fitting:
        if name in (None, kind.name):
            return kind
    elsewhere = _dims(fitting[0].of, name)
    if elsewhere:
        raise PolyfoldError(f"kind={name!r} needs a domain of dimension {elsewhere}; this is {result!r}")
    valid = ", ".join(repr(kind.name) for kind in fitting)
    raise PolyfoldError(f"kind={name!r} cannot be drawn of this {type(result).__name__}: use one of {valid}")


def _dims(of: str, name: str | None = None) -> str:
    """The dimensions of domains that a type of result can be drawn in: "1, 2 or 3"; nothing if any will do."""
    found = sorted({d for kind in KINDS if kind.of == of and name in (None, kind.name) for d in kind.dims or ()})
    return " or ".join(filter(None, [", ".join(map(str, found[:-1])), *map(str, found[-1:])]))


def _nothing_to_draw(result: Any, fitting: list[Kind]) -> str:
    known = type(result).__name__
    if _dims(known):
        text = f"{result!r} cannot be drawn as it is: that needs a domain of dimension {_dims(known)}; pf.line and "
        text += "pf.plane cut such out of larger ones"
        return f"{text}. There is kind={' or '.join(repr(kind.name) for kind in fitting)}" if fitting else text
    text = " ".join(repr(result).split())
    text = text if len(text) <= 80 else f"{text[:77]}..."
    valid = ", ".join(dict.fromkeys(kind.of for kind in KINDS))
    return f"{text} cannot be drawn: pf.plot takes {valid}; of a network pf.unfold(network, domain) gives an Atlas"


def _maker(kind: Kind) -> Callable[..., Any]:
    module, function = kind.made_by.split(":")
    place = "polyfold.plotting" if kind.drawn else "polyfold.plotting.scene"
    found: Callable[..., Any] = getattr(importlib.import_module(f"{place}.{module}"), function)
    return found
