"""Pictures of the pieces: the plane itself, the graph over one input, or a cut through many inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from polyfold.atlas.atlas import Atlas
from polyfold.errors import how_many
from polyfold.plotting.scene.cells import cells_scene, classes_scene
from polyfold.plotting.scene.line_graph import line_graph_scene
from polyfold.plotting.scene.shapes import Part, Points, Polygons, Scene
from polyfold.reporting.blocks import Block, Figure, Paragraph, Section
from polyfold.reporting.found import Cut, Found
from polyfold.reporting.phrases import listing, number
from polyfold.reporting.subject import Subject

_PLANE = 2
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])


def what_it_looks_like(found: Found) -> Section | None:
    """The pieces themselves, as far as they can be drawn."""
    whole = found.whole
    inputs = found.subject.network.input_dim
    blocks: list[Block] = []
    if inputs == 1 and whole is not None:
        blocks = _line(found, whole.atlas)
    elif inputs == _PLANE and whole is not None:
        blocks = _plane(found, whole.atlas)
    elif found.plane is not None:
        blocks = _cut(found, found.plane)
    return Section("pictures", "What it looks like", tuple(blocks)) if blocks else None


def _line(found: Found, atlas: Atlas) -> list[Block]:
    """One input: the graph."""
    of = found.subject
    scene = line_graph_scene(
        atlas,
        X=_data(found),
        strip=of.classes is not None,
        feature_names=of.features,
        output_names=of.outputs,
        title=f"The network over {of.features[0]}",
    )
    caption = (
        f"What the network puts out (height) for every {of.features[0]}: straight on each cell, with a dot where a "
        "gate switches."
    )
    if of.classes is not None:
        caption += " The strip at the bottom says which class wins."
    said = f"A line of {how_many(len(atlas), 'straight piece')}" + (" for each output." if atlas.outputs > 1 else ".")
    marks = " Open marks are the data." if _data(found) is not None else ""
    return [Figure(_noted(scene, atlas), caption + marks, said)]


def _data(found: Found) -> npt.NDArray[np.float64] | None:
    """The data in the domain, or None."""
    X = found.subject.X
    return None if X is None or not len(found.inside) else X[found.inside]


def _labels(found: Found) -> npt.NDArray[np.int64] | None:
    """The true classes of these data, or None."""
    labels = found.subject.labels
    return None if labels is None or not len(found.inside) else labels[found.inside]


def _plane(found: Found, atlas: Atlas) -> list[Block]:
    """Two inputs: the domain is the picture."""
    of, whole = found.subject, found.whole
    assert whole is not None
    blocks: list[Block] = []
    if whole.classes is not None and of.classes is not None:
        scene = classes_scene(
            whole.classes,
            X=_data(found),
            y=_labels(found),
            feature_names=of.features,
            output_names=of.outputs,
            title="Which answer where",
        )
        blocks.append(
            Figure(
                _named(_noted(scene, atlas), of),
                "Colours say which class wins; thin lines are the walls between cells, and the thick line is the "
                "decision boundary." + _marks(found),
                f"The domain with {of.features[0]} to the right and {of.features[1]} upward, coloured by the "
                "answer: "
                f"{listing([name for k, name in enumerate(of.classes) if (whole.classes.label == k).any()])}.",
            )
        )
    steep = 0
    scene = cells_scene(
        atlas,
        colour="slope",
        output=steep,
        feature_names=of.features,
        output_names=of.outputs,
        title="How steep it is where",
    )
    blocks.append(
        Figure(
            _noted(scene, atlas),
            f"{'All ' if len(atlas) > 1 else ''}{how_many(len(atlas), 'cell')}, coloured by how steeply the output "
            f"{of.outputs[steep]} changes there. Point at a cell to read its pattern and its affine map.",
            f"{how_many(len(atlas), 'cell')} with straight sides that fill the domain without gaps.",
        )
    )
    return blocks


def _marks(found: Found) -> str:
    if _data(found) is None:
        return ""
    return (
        " Marks are the data, in the colour of their true class."
        if found.subject.labels is not None
        else " Marks are the data."
    )


def _cut(found: Found, cut: Cut) -> list[Block]:
    """More inputs: a slice."""
    of = found.subject
    if cut.features is not None:
        one, other = cut.features
        names: tuple[str, ...] = (of.features[one], of.features[other])
        among = "" if found.points is None or len(found.inside) == len(found.points) else " over the data in the domain"
        text = (
            f"The network has {of.network.input_dim:,} inputs, too many for one picture. This is a slice through "
            f"the data: {names[0]} and {names[1]} vary, and every other feature stays at its median{among}. The two "
            "were chosen because they move the outputs most."
        )
        X = _data(found)
        data = None if X is None else X[:, list(cut.features)]
        caution = (
            "Marks are the data, seen along the slice: most of them lie before or behind it, so that their own "
            "answers may differ."
        )
    else:
        names = ("from the first point to the second", "from the first point to the third")
        what = "points drawn at random" if found.drawn else "data points"
        text = (
            f"The network has {of.network.input_dim:,} inputs, too many for one picture. This is a slice: the plane "
            f"through three {what}, which are the marks in it."
        )
        data, caution = _CORNERS, "Outside the triangle between the marks, inputs need not lie in the domain."
    blocks: list[Block] = [Paragraph(text), Paragraph(f"The slice meets {how_many(len(cut.atlas), 'cell')}.")]
    blocks.append(_cut_figure(found, cut, names, data, caution))
    return blocks


def _cut_figure(
    found: Found, cut: Cut, names: tuple[str, ...], data: npt.NDArray[np.float64] | None, caution: str
) -> Figure:
    of = found.subject
    labels = _labels(found) if cut.features is not None else None
    if cut.classes is not None and of.classes is not None:
        scene: Scene = classes_scene(
            cut.classes,
            X=data,
            y=labels,
            feature_names=names,
            output_names=of.outputs,
            title="Which answer where, on a slice",
        )
        won = [name for k, name in enumerate(of.classes) if (cut.classes.label == k).any()]
        caption = (
            "Colours say which class wins on the slice; thin lines are walls, the thick line is the decision boundary."
        )
        said = f"A slice, coloured by the answer: {listing(won)}."
    else:
        scene = cells_scene(
            cut.atlas,
            colour="output",
            X=data,
            feature_names=names,
            output_names=of.outputs,
            title="The output on a slice",
        )
        caption = f"The cells of the slice, coloured by the output {of.outputs[0]} in their middle."
        said = f"A slice with {number(float(len(cut.atlas)))} cells, coloured by the output."
    if found.drawn:
        parts = (replace(part, name="points") if isinstance(part, Points) else part for part in scene.parts)
        scene = replace(scene, parts=tuple(parts))
    return Figure(_named(_noted(scene, cut.atlas), of), f"{caption} {caution}".strip(), said)


def _noted(scene: Scene, atlas: Atlas) -> Scene:
    """Notes say what a view cuts off: nothing, where the domain has an end, since then the view is all of it."""
    return replace(scene, notes=()) if atlas.bounded.all() else scene


def _named(scene: Scene, of: Subject) -> Scene:
    """The scene with the names of two classes that one output decides between: it only knows their numbers."""
    if not of.by_sign or of.classes is None:
        return scene
    return replace(scene, parts=tuple(_with_names(part, of.classes) for part in scene.parts))


def _with_names(part: Part, classes: tuple[str, ...]) -> Part:
    if not isinstance(part, Polygons | Points) or part.colouring is None or part.colouring.names is None:
        return part
    names = tuple(said.removesuffix(str(k)) + classes[k] for k, said in enumerate(part.colouring.names))
    hover = []
    for value, said in zip(part.colouring.values.astype(np.int64).tolist(), part.hover, strict=False):
        start = f"{part.colouring.label} {value}"
        known = said.startswith(start)
        hover.append(f"{part.colouring.label} {classes[value]}{said.removeprefix(start)}" if known else said)
    return replace(part, colouring=replace(part.colouring, names=names), hover=hover)
