"""Write docs/gallery.md and its images: one example of every figure.

    python tools/gallery.py                       write page and images
    python tools/gallery.py --only NAME ...       write these images only
    python tools/gallery.py --check               fail if the page is out of date
    python tools/gallery.py --interactive FOLDER  write Plotly's figures as HTML pages, with an index

To add a figure, add an Entry to ENTRIES. Its code ends in a call of `pf.plot`, or of anything else that takes `path=`;
the image is what that call writes. All code runs in one namespace, after SETUP.
"""

from __future__ import annotations

import argparse
import ast
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "gallery.md"
IMAGES = ROOT / "docs" / "images" / "gallery"
# An image of more colours than these is rounded to them: files of a few kB.
COLOURS, DOTS_PER_INCH = 192, 75


@dataclass(frozen=True)
class Entry:
    """A figure: the name of its file, a heading, what is to be seen, and the code that makes it."""

    name: str
    title: str
    words: str
    code: str
    ending: str = ".png"


SETUP = """
import numpy as np

import polyfold as pf
from polyfold.data import iris, iris_test

petals, species = iris_test()
flowers = pf.unfold(iris(), pf.box([0, 0], [8, 3]))

rng = np.random.default_rng(7)
sizes = [2, 12, 12, 3]
layers = [(rng.normal(size=(m, n)) / np.sqrt(n), 0.4 * rng.normal(size=m)) for n, m in zip(sizes, sizes[1:])]
atlas = pf.unfold(layers, pf.box(-2, 2))
"""

ENTRIES = (
    Entry(
        "cells_by_output",
        "Cells by an output",
        "Every cell in the colour of an output's value in its middle.",
        "pf.plot(atlas)",
    ),
    Entry(
        "cells_by_slope",
        "Cells by slope",
        "The norm of an output's gradient, which is constant on a cell.",
        'pf.plot(atlas, colour="slope", output=1)',
    ),
    Entry(
        "cells_by_layer",
        "Cells by layer",
        "The deepest layer whose walls bound the cell.",
        'pf.plot(atlas, colour="layer")',
    ),
    Entry(
        "cells_by_volume",
        "Cells by size",
        "Areas on a logarithmic scale.",
        'pf.plot(atlas, colour="volume")',
    ),
    Entry(
        "cells_by_facets",
        "Cells by number of facets",
        "Any column of `atlas.to_pandas()`, or any array with a value a cell, will do.",
        'pf.plot(atlas, colour="facets")',
    ),
    Entry(
        "classes",
        "Classes and data",
        "Where which output is the largest, the decision boundary between, and data on top.",
        """
pf.plot(flowers, colour="class", data=petals, labels=species,
        outputs=("setosa", "versicolor", "virginica"), inputs=("petal length", "petal width"))
""",
    ),
    Entry(
        "boundary",
        "The decision boundary alone",
        "Over the walls of cells in grey; of a network on the whole plane, cut off at the view.",
        "pf.plot(pf.decision_boundary(pf.unfold(layers)), view=(-3, 3, -3, 3))",
    ),
    Entry(
        "regions",
        "Linear regions",
        "Cells with the same map that touch are one region, in one colour; walls within regions are grey.",
        """
folded = [(np.abs(layers[0][0]), layers[0][1]), ([[1.0] * 6 + [0.0] * 6], [0.0])]
pf.plot(pf.regions(pf.unfold(folded, pf.box(-2, 2))))
""",
    ),
    Entry(
        "folds",
        "Folds layer by layer",
        "Where a layer's neurons switch, over where those of earlier layers do; at last the decision boundary.",
        'pf.plot(atlas, kind="folds", boundary=True)',
    ),
    Entry(
        "boxes",
        "Boxes",
        "Smallest boxes around some cells, here those that hold most data.",
        """
held = np.bincount(flowers.locate(petals), minlength=len(flowers))
pf.plot(pf.boxes(flowers, np.argsort(-held)[:3]), data=petals, labels=species)
""",
    ),
    Entry(
        "unbounded",
        "All of the plane",
        "Cells without end are cut off at the view, and the figure says so.",
        'pf.plot(pf.unfold(layers), colour="class", view=(-4, 4, -3, 3))',
    ),
)


def namespace() -> dict[str, Any]:
    """What the setup leaves."""
    found: dict[str, Any] = {}
    exec(SETUP, found)
    return found


def run(entry: Entry, names: dict[str, Any], **settings: Any) -> Any:
    """Run an entry's code, with further settings for its last call; what that call gives."""
    tree = ast.parse(entry.code)
    last = tree.body[-1]
    if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)):
        raise SystemExit(f"the code of {entry.name!r} must end in a call")
    for name, value in settings.items():
        last.value.keywords.append(ast.keyword(name, ast.Constant(value)))
    exec(compile(ast.fix_missing_locations(ast.Module(tree.body[:-1], [])), entry.name, "exec"), names)
    return eval(compile(ast.fix_missing_locations(ast.Expression(last.value)), entry.name, "eval"), names)


def is_plot(entry: Entry) -> bool:
    """Whether an entry's figure can be drawn by any renderer."""
    return entry.code.strip().splitlines()[-1].startswith("pf.plot(") or "\npf.plot(" in "\n" + entry.code


def write_image(entry: Entry, names: dict[str, Any]) -> Path:
    """The image of an entry."""
    path = IMAGES / f"{entry.name}{entry.ending}"
    if not is_plot(entry):
        run(entry, names, path=str(path))
        return path
    figure = run(entry, names, renderer="matplotlib")
    figure.savefig(path, dpi=DOTS_PER_INCH)
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    return path


def page() -> str:
    """The text of the page."""
    parts = [
        "# Gallery",
        "Every figure that polyfold draws, with the code that draws it. This page and its images are made by "
        "`tools/gallery.py`, a part of `make docs`. The images are drawn by matplotlib; as they stand, the calls give "
        "Plotly's figures, to move about in. [Plots](plots.md) has the options.",
        f"```python\n{SETUP.strip()}\n```",
    ]
    for entry in ENTRIES:
        image = f"images/gallery/{entry.name}{entry.ending}"
        parts += [
            f"## {entry.title}",
            entry.words,
            f"```python\n{entry.code.strip()}\n```",
            f"![{entry.title}]({image})",
        ]
    return "\n\n".join(parts) + "\n"


def write_interactive(folder: Path) -> None:
    """Plotly's figures, one page each, and an index; plotly.min.js is there once."""
    folder.mkdir(parents=True, exist_ok=True)
    names, rows = namespace(), []
    for entry in filter(is_plot, ENTRIES):
        run(entry, names).write_html(folder / f"{entry.name}.html", include_plotlyjs="directory", div_id="figure")
        rows.append(f'<li><a href="{entry.name}.html">{escape(entry.title)}</a>: {escape(entry.words)}</li>')
    body = f"<h1>Gallery, to move about in</h1><ul>{''.join(rows)}</ul>"
    text = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Gallery</title><body>{body}</body></html>\n'
    (folder / "index.html").write_text(text, encoding="utf-8")
    print(f"{len(rows)} figures written to {folder}")


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description="Write the gallery.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--interactive", type=Path)
    options = parser.parse_args()
    if options.check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            print("docs/gallery.md is out of date: run tools/gallery.py", file=sys.stderr)
            return 1
        return 0
    if options.interactive:
        write_interactive(options.interactive)
        return 0
    IMAGES.mkdir(parents=True, exist_ok=True)
    names = namespace()
    for entry in ENTRIES:
        if not options.only or entry.name in options.only:
            path = write_image(entry, names)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
