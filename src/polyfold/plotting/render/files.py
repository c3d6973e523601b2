"""Which renderer draws, and figures as files."""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import Any

from polyfold._base.files import atomically
from polyfold.errors import StorageError
from polyfold.plotting.scene.shapes import Drawing

# The endings of the files that each renderer can write.
RENDERERS: dict[str, tuple[str, ...]] = {"plotly": (".html", ".json"), "matplotlib": (".png", ".svg", ".pdf")}
_NO_DATE: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def render(drawing: Drawing, renderer: str) -> Any:
    """The figure of a scene, by the renderer of this name."""
    return importlib.import_module(f"polyfold.plotting.render.{renderer}").draw(drawing)


def check_path(path: str | PathLike[str], renderer: str) -> None:
    """Fail before the work, not after it, where the ending says no format of the renderer."""
    ending = Path(path).suffix.lower()
    if ending not in RENDERERS[renderer]:
        others = [f"renderer={name!r} writes {', '.join(endings)}" for name, endings in RENDERERS.items()]
        raise StorageError(f"{str(path)!r} must end in what is written: {'; '.join(others)}")


def write(figure: Any, path: str | PathLike[str], renderer: str) -> None:
    """Write a figure, all or nothing. HTML holds all that it needs; the same figure gives the same bytes."""
    kind = Path(path).suffix.lower()[1:]
    with atomically(path) as temporary:
        if renderer == "plotly":
            text = figure.to_json() if kind == "json" else figure.to_html(include_plotlyjs=True, div_id="figure")
            temporary.write_text(text, encoding="utf-8")
        else:
            import matplotlib

            with matplotlib.rc_context({"svg.hashsalt": "polyfold"}):
                figure.savefig(temporary, format=kind, dpi=120, metadata=_NO_DATE[kind])
