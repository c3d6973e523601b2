"""Pictures of the pieces: the plane itself, the graph over one input, or a cut through many inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from polyfold.atlas.atlas import Atlas
from polyfold.errors import how_many
from polyfold.views.report.blocks import Block, Figure, Paragraph, Section
from polyfold.views.report.found import Cut, Found
from polyfold.views.report.words import listing, number
from polyfold.views.scene.cells import cells_scene, classes_scene
from polyfold.views.scene.line_graph import line_graph_scene
from polyfold.views.scene.shapes import Scene

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
        data=of.X,
        strip=of.classes is not None,
        inputs=of.features,
        outputs=of.outputs,
        title=f"The network over {of.features[0]}",
    )
    caption = (
        f"What the network puts out (height) for every {of.features[0]}: straight on each cell, with a dot where a "
        "gate switches."
    )
    if of.classes is not None:
        caption += " The strip at the bottom says which class wins."
    said = f"A line of {how_many(len(atlas), 'straight piece')}" + (" for each output." if atlas.outputs > 1 else ".")
    return [Figure(_noted(scene, atlas), caption + (" Open marks are the data." if of.X is not None else ""), said)]


def _plane(found: Found, atlas: Atlas) -> list[Block]:
    """Two inputs: the domain is the picture."""
    of, whole = found.subject, found.whole
    assert whole is not None
    blocks: list[Block] = []
    if whole.classes is not None and of.classes is not None and atlas.outputs > 1:
        scene = classes_scene(
            whole.classes,
            data=of.X,
            labels=of.labels,
            inputs=of.features,
            outputs=of.outputs,
            title="Which answer where",
        )
        blocks.append(
            Figure(
                _noted(scene, atlas),
                "Colours say which class wins; thin lines are the walls between cells, and the thick line is the "
                "decision boundary." + _marks(found),
                f"The domain with {of.features[0]} to the right and {of.features[1]} upward, coloured by the "
                "answer: "
                f"{listing([name for k, name in enumerate(of.classes) if (whole.classes.label == k).any()])}.",
            )
        )
    steep = 0
    scene = cells_scene(
        atlas, colour="slope", output=steep, inputs=of.features, outputs=of.outputs, title="How steep it is where"
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
    if found.subject.X is None:
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
        text = (
            f"The network has {of.network.input_dim:,} inputs, too many for one picture. This is a slice through "
            f"the data: {names[0]} and {names[1]} vary, and every other feature stays at its median. The two were "
            "chosen because they move the outputs most."
        )
        data = found.points[:, list(cut.features)] if found.points is not None else None
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
    labels = of.labels if cut.features is not None else None
    if cut.classes is not None and of.classes is not None and cut.atlas.outputs > 1:
        scene: Scene = classes_scene(
            cut.classes,
            data=data,
            labels=labels,
            inputs=names,
            outputs=of.outputs,
            title="Which answer where, on a slice",
        )
        won = [name for k, name in enumerate(of.classes) if (cut.classes.label == k).any()]
        caption = (
            "Colours say which class wins on the slice; thin lines are walls, the thick line is the decision boundary."
        )
        said = f"A slice, coloured by the answer: {listing(won)}."
    else:
        scene = cells_scene(
            cut.atlas, colour="output", data=data, inputs=names, outputs=of.outputs, title="The output on a slice"
        )
        caption = f"The cells of the slice, coloured by the output {of.outputs[0]} in their middle."
        said = f"A slice with {number(float(len(cut.atlas)))} cells, coloured by the output."
    return Figure(_noted(scene, cut.atlas), f"{caption} {caution}".strip(), said)


def _noted(scene: Scene, atlas: Atlas) -> Scene:
    """Notes say what a view cuts off: nothing, where the domain has an end, since then the view is all of it."""
    return replace(scene, notes=()) if atlas.bounded.all() else scene
