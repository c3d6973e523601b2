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
from polyfold.datasets import iris, iris_test

petals, species = iris_test()
flowers = pf.unfold(iris(), pf.box([0, 0], [8, 3]))

rng = np.random.default_rng(7)
sizes = [2, 12, 12, 3]
layers = [(rng.normal(size=(m, n)) / np.sqrt(n), 0.4 * rng.normal(size=m)) for n, m in zip(sizes, sizes[1:])]
atlas = pf.unfold(layers, pf.box(-2, 2))


def random_layers(*sizes, seed=7):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(m, n)) / np.sqrt(n), 0.4 * rng.normal(size=m)) for n, m in zip(sizes, sizes[1:])]
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
        "Any column of `atlas.to_pandas()`, or any array with one value per cell, will do.",
        'pf.plot(atlas, colour="facets")',
    ),
    Entry(
        "classes",
        "Classes and data",
        "Where which output is the largest, the decision boundary between, and data on top.",
        """
pf.plot(flowers, colour="class", X=petals, y=species,
        output_names=("setosa", "versicolor", "virginica"),
        feature_names=("petal length", "petal width"))
""",
    ),
    Entry(
        "boundary",
        "The decision boundary alone",
        "Over the walls of cells in grey; of a network on the whole plane, cut off at the view.",
        "pf.plot(pf.stats.decision_boundary(pf.unfold(layers)), view=(-3, 3, -3, 3))",
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
pf.plot(pf.stats.boxes(flowers, ids=np.argsort(-held)[:3]), X=petals, y=species)
""",
    ),
    Entry(
        "unbounded",
        "All of the plane",
        "Cells without end are cut off at the view, and the figure says so.",
        'pf.plot(pf.unfold(layers), colour="class", view=(-4, 4, -3, 3))',
    ),
    Entry(
        "graph",
        "Over one input",
        "Graphs of all outputs with their breakpoints; the strip below says which output is the largest.",
        "pf.plot(pf.unfold(random_layers(1, 8, 8, 3), pf.box(-3, 3)))",
    ),
    Entry(
        "surface",
        "The graph in space",
        "Every cell lifted to the values of an output: flat pieces, which meet in folds.",
        'pf.plot(atlas, kind="surface")',
    ),
    Entry(
        "surface_of_classes",
        "The graph in space, by class",
        "Any column can colour the pieces, as in the plane; data lie on the surface.",
        'pf.plot(flowers, kind="surface", colour="class", output=1, X=petals)',
    ),
    Entry(
        "solids_by_class",
        "Cells in space",
        "Polyhedra by class, cut open at a plane: the cut shows which cells lie in it.",
        """
space = pf.unfold(random_layers(3, 7, 5, 3, seed=31), pf.box(-2, 2))
pf.plot(space, colour="class", cut=(2, 0.5))
""",
    ),
    Entry(
        "solids_exploded",
        "Cells in space, pulled apart",
        "Each cell is moved away from the middle, so that one sees between them.",
        'pf.plot(space, colour="volume", explode=0.5)',
    ),
    Entry(
        "solids_unbounded",
        "Cells of all of space",
        "Cells without end are cut off at the view; a plane at any angle cuts the picture open.",
        'pf.plot(pf.unfold(random_layers(3, 6, 1)), colour="slope", view=(-3, 3, -3, 3, -3, 3), cut=((1, -1, 1), 0.5))',
    ),
    Entry(
        "dual_space",
        "Dual space",
        "The map of every cell as a point (w, b); points that hold data are larger.",
        "pf.plot(pf.maps.dual_space(atlas, X=np.random.default_rng(1).uniform(-2, 2, size=(200, 2))))",
    ),
    Entry(
        "dual_space_edges",
        "Dual space from one side",
        "Points of neighbouring cells are joined: an edge is the jump of the gradient at a wall.",
        'pf.plot(pf.maps.dual_space(flowers, output=1), axes=("w0", "w1"), edges=True)',
    ),
    Entry(
        "dual_graph",
        "The dual graph",
        "Cells as points, joined where they share a facet, by how many walls lie between them and one cell.",
        "pf.plot(pf.graph.dual(atlas), source=0)",
    ),
    Entry(
        "dual_graph_spring",
        "The dual graph in many dimensions",
        "Where cells cannot be drawn, a layout by springs shows which of them touch.",
        "pf.plot(pf.graph.dual(pf.unfold(random_layers(4, 6, 1), pf.box(-1, 1))), source=0)",
    ),
    Entry(
        "facets",
        "Facets per cell",
        "How many cells have how many facets, and what is known about the mean.",
        "pf.plot(pf.stats.facets(atlas))",
    ),
    Entry(
        "faces",
        "Faces by dimension",
        "The f-vector: each vertex, edge and cell counted once.",
        'pf.plot(atlas, kind="faces")',
    ),
    Entry(
        "histogram",
        "Histograms",
        "Of any column that can colour cells, or of any array with one value per cell.",
        'pf.plot(atlas, kind="histogram", of="slope")',
    ),
    Entry(
        "gradients",
        "Slopes of an image network",
        "At each picture the slopes of every output, in the picture's own shape: figure 6 of paper 001.",
        """
from polyfold.datasets.digits import mnist_l1
from sklearn.datasets import load_digits

small = load_digits().images[:300] / 16                       # 8 by 8, made 28 by 28
pictures = np.pad(np.kron(small, np.ones((3, 3))), ((0, 0), (2, 2), (2, 2))).reshape(-1, 784)
pf.plot(pf.local(mnist_l1(), pictures[[4, 8, 3]]))
""",
    ),
    Entry(
        "centres",
        "Clusters of slopes",
        "The centres of the clusters of each output's maps, as pictures.",
        "pf.plot(pf.maps.cluster(pf.maps.matrices(mnist_l1(), pictures, output=[0, 1, 2, 3]), 6))",
    ),
    Entry(
        "training",
        "Training: the decision boundary",
        "How the volumes of the classes change over the snapshots of a recording.",
        """
weights = [(w.copy(), b.copy()) for w, b in random_layers(2, 8, 2)]
recorder, rng = pf.training.record(weights), np.random.default_rng(1)
for step in range(30):
    for w, b in weights:
        w += 0.05 * rng.normal(size=w.shape)
        b += 0.05 * rng.normal(size=b.shape)
    recorder.step(loss=np.exp(-step / 10))
pf.plot(pf.training.boundary_movement(recorder.recording, pf.box(-2, 2)), of="areas")
""",
    ),
    Entry(
        "training_cells",
        "Training: cells",
        "Numbers of cells over the snapshots.",
        'pf.plot(recorder.recording, kind="cell_counts", domain=pf.box(-2, 2))',
    ),
    Entry(
        "training_maps",
        "Training: local maps",
        "How far the maps around data points move from snapshot to snapshot.",
        "pf.plot(pf.training.map_drift(recorder.recording, [[0, 0], [1, 0], [0, 1], [1, 1]]))",
    ),
    Entry(
        "beeswarm",
        "Shapley values: all inputs",
        "Drawn by shap, from values that are exact.",
        """
names = ["petal length", "petal width"]
values = pf.explain.shapley(flowers, petals, background=petals, feature_names=names)
pf.plot(values, output=1)
""",
    ),
    Entry(
        "waterfall",
        "Shapley values: one input",
        "From the base value to the output, feature by feature; `bar`, `heatmap` and `violin` are there too.",
        'pf.plot(values, kind="waterfall", output=2, row=40)',
    ),
    Entry(
        "film",
        "A film strip",
        "Data behind each truncation of a network, which collapses more and more of them to points.",
        """
turn = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2)
truncated = pf.layers.truncation([(turn, [0.5, 0.8]), (-turn, [1.0, 1.2]), (turn, [0.0, 0.0])])
points = np.random.default_rng(1).normal(size=(150, 2))
pf.plot(truncated, X=points, y=(points[:, 0] > 0).astype(int))
""",
    ),
    Entry(
        "movie",
        "Movies of training",
        "Three hidden nodes learn to tell a circle from the annulus around it; as MP4 or as a player in HTML, too: see "
        "[movies](movies.md).",
        """
from studies.annuli import trained

found = trained("circle", (3,), epochs=120, every=8, rate=0.05)
pf.training.movie(found.recording, pf.box(-1, 1), out="circle.gif", X=found.data, y=found.labels,
         output_names=("annulus", "circle"), step_name="epoch", size=320, fps=5)
""",
        ".gif",
    ),
)


def namespace() -> dict[str, Any]:
    """What the setup leaves."""
    found: dict[str, Any] = {}
    exec(SETUP, found)
    return found


def run(entry: Entry, names: dict[str, Any], *, draw: bool = True, **settings: Any) -> Any:
    """Run an entry's code, with further settings for its last call; what that call gives, or all code but that call."""
    tree = ast.parse(entry.code)
    last = tree.body[-1]
    if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)):
        raise SystemExit(f"the code of {entry.name!r} must end in a call")
    kept = [keyword for keyword in last.value.keywords if keyword.arg not in settings]
    last.value.keywords = [*kept, *(ast.keyword(name, ast.Constant(value)) for name, value in settings.items())]
    exec(compile(ast.fix_missing_locations(ast.Module(tree.body[:-1], [])), entry.name, "exec"), names)
    if not draw:
        return None
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
        figure = run(entry, names)
        if not hasattr(figure, "write_html"):  # drawn by matplotlib alone
            continue
        figure.write_html(folder / f"{entry.name}.html", include_plotlyjs="directory", div_id="figure")
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
        else:
            run(entry, names, draw=False)  # later ones may need what it makes
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
