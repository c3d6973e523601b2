"""Single inputs: how far another answer is, what each feature adds, and the way from one input to another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyfold.engine.cells.local import LocalMaps
from polyfold.errors import how_many
from polyfold.explain.shapley.result import Attribution, LocalShapley
from polyfold.plotting.scene.histograms import histogram
from polyfold.plotting.scene.image_grids import picture_of
from polyfold.plotting.scene.line_graph import line_graph_scene
from polyfold.plotting.scene.shapes import Grid, Points, Polygons
from polyfold.reporting.blocks import Block, Figure, Folded, Note, Paragraph, Section, Table
from polyfold.reporting.found import Around, Cut, Found
from polyfold.reporting.phrases import formula, listing, number, place, point_word

_FEATURES, _NEAREST = 8, 6
# With more pieces than this a graph has no dots, and does not say which class wins where; with many more it is none.
_STRIP, _MOST_PIECES = 300, 3000
_OUTPUTS = 10


def how_safe(found: Found) -> Section | None:
    """Distances to another class, and to the next wall."""
    around, of = found.around, found.subject
    if around is None:
        return None
    blocks: list[Block] = []
    if around.changes is not None and of.classes is not None:
        blocks += _changes(found, around)
    if around.walls is not None and around.maps is not None:
        rows = []
        for number_, row in enumerate(around.rows[: len(around.maps)].tolist()):
            distance, gate = float(around.walls.distance[number_]), int(around.walls.gate[number_])
            name = "" if gate < 0 else str(of.program.origins[gate])
            rows.append((_row(found, row), "not found in time" if np.isnan(distance) else number(distance), name))
        blocks.append(
            Paragraph(
                f"How far does the formula around a {point_word(found.drawn)} hold? Up to "
                "the nearest wall, nothing switches at all."
            )
        )
        blocks.append(
            Table(
                "Distance to the nearest wall, and the gate that switches there.",
                ("point", "distance", "gate"),
                tuple(rows),
                (0, 2),
            )
        )
    title = "How safe the answers are" if of.classes is not None else "How far the formulas hold"
    return Section("safe", title, tuple(blocks)) if blocks else None


def _changes(found: Found, around: Around) -> list[Block]:
    of, changes, thing = found.subject, around.changes, point_word(found.drawn)
    assert changes is not None and of.classes is not None
    finite = changes.distance[np.isfinite(changes.distance)]
    if not len(finite):
        return [Paragraph("The whole domain gets one answer, so that no place in it is answered otherwise.")]
    blocks: list[Block] = [
        Paragraph(
            f"How far must an input be moved before the answer changes? For {how_many(len(changes), thing)} "
            f"the nearest such place in the domain was found: it is {number(float(finite.min()))} away for the "
            f"least safe one, and {number(float(np.median(finite)))} or more for half of them."
        )
    ]
    order = np.argsort(changes.distance, kind="stable")
    rows = tuple(
        (
            place(found_point(found, k), of.features),
            of.classes[int(changes.label[k])],
            number(float(changes.distance[k])),
            of.classes[int(changes.other[k])],
            place(changes.point[k], of.features),
        )
        for k in order.tolist()
        if np.isfinite(changes.distance[k])
    )
    # The same row may come several times in the data.
    rows = tuple(dict.fromkeys(rows))[:_NEAREST]
    label = "distance to the nearest other answer"
    said = f"The least is {number(float(finite.min()))}, the largest {number(float(finite.max()))}."
    blocks.append(
        Figure(
            histogram(finite, label, thing=thing),
            f"How many {thing}s (height) are how far from another answer.",
            said,
        )
    )
    blocks.append(
        Table(
            f"The {thing}s nearest to another answer. At the place named the two answers tie; beyond it the "
            "other one wins.",
            (thing, "answer", "distance", "other answer", "where"),
            rows,
            (0, 1, 3, 4),
        )
    )
    blocks.append(
        Paragraph(
            "No place with another answer is nearer than that, up to rounding (at most "
            f"{number(float(changes.gap.max(initial=0.0)))})."
        )
    )
    return blocks


def found_point(found: Found, k: int) -> np.typing.NDArray[np.float64]:
    """The input that change number k starts from."""
    assert found.around is not None and found.points is not None
    point: np.typing.NDArray[np.float64] = found.points[int(found.around.looked_at[k])]
    return point


def _row(found: Found, row: int) -> str:
    assert found.points is not None
    name = "point drawn at random" if found.drawn else "data point"
    if len(found.subject.features) <= 4:
        return place(found.points[row], found.subject.features)
    return f"{name} {row + 1}"


def what_features_add(found: Found) -> Section | None:
    """Maps around examples, and Shapley values."""
    around = found.around
    if around is None:
        return None
    blocks: list[Block] = []
    if found.whole is None and around.maps is not None:
        blocks += _maps(found, around, around.maps)
    if around.shapley is not None:
        blocks += _shapley(found, around, around.shapley)
    return Section("features", "Why the network says what it says", tuple(blocks)) if blocks else None


def _maps(found: Found, around: Around, maps: LocalMaps) -> list[Block]:
    """The maps around examples, of the output that is largest there; as pictures, if inputs are pictures."""
    of, fit = found.subject, found.fit
    assert fit is not None
    examples = around.rows[: len(maps)].tolist()
    top = [int(fit.scores[row].argmax()) for row in examples]
    rows = []
    for k, row in enumerate(examples):
        open_ = len(maps.undecided[k])
        decided = "proved" if not open_ else f"{how_many(open_, 'gate')} could not be decided"
        said = formula(maps.A[k, top[k]], float(maps.c[k, top[k]]), of.features)
        rows.append((_row(found, row), of.outputs[top[k]], said, decided))
    text = (
        "Around each of these points the network is exactly one affine map (numbers rounded here; of long formulas the "
        "largest terms):"
    )
    caption = "The map around each point, for the output that is largest there."
    table = Table(caption, ("point", "output", "formula", "switches"), tuple(rows), (0, 1, 2, 3))
    if of.image_shape is None:
        return [Paragraph(text), table]
    inputs = tuple(picture_of(x.reshape(of.image_shape), signed=False) for x in maps.X)
    slopes = tuple(
        picture_of(maps.A[k, top[k]].reshape(of.image_shape), of.outputs[top[k]]) for k in range(len(examples))
    )
    grid = Grid((inputs, slopes), ("the points", "slopes of the output named"), "Inputs and slopes as pictures")
    return [
        Paragraph("The slopes of an affine map have the shape of the input, so here they are pictures."),
        Figure(
            grid,
            "Above: some points, dark where they are large. Below each: the slopes of the output that is largest "
            "there. Red pixels raise that output, blue ones lower it, and white ones do nothing; each picture has its "
            "own scale.",
            f"{how_many(len(examples), 'input')} as pictures, and below each the slopes around it.",
        ),
        Folded("The same as formulas", (Paragraph(text), table)),
    ]


def _shapley(found: Found, around: Around, values: Attribution) -> list[Block]:
    of = found.subject
    compared = np.arange(len(values))
    against = f"{values.background}"
    typical = "what the network says on average about other data"
    if isinstance(values, LocalShapley):
        compared = np.flatnonzero(values.local.points > 0)
        against = "the other data of its cell"
        typical = "what the formula of the cell gives for the average of the other data in the same cell"
    if not len(compared):
        return [
            Note(
                "With so many features, Shapley values compare an input with the other data in its cell. Each of the "
                "data points looked at is alone in its cell, so there is nothing to compare with."
            )
        ]
    blocks: list[Block] = [
        Paragraph(
            "Why does the network say what it says about one input? Shapley values answer that in shares that add "
            f"up: the base value is {typical}, and each feature's share is what this input's value of it adds."
        )
    ]
    for k in compared[:3].tolist():
        top = 0 if len(of.outputs) == 1 else int(values.outputs[k].argmax())
        order = np.argsort(-np.abs(values.values[k, :, top]), kind="stable")
        shown, rest = order[:_FEATURES], order[_FEATURES:]
        rows = [("base value", "", number(float(values.base_values[k, top])))]
        rows += [
            (of.features[j], number(float(values.X[k, j])), number(float(values.values[k, j, top])))
            for j in shown.tolist()
        ]
        if len(rest):
            rows.append(
                (f"{how_many(len(rest), 'other feature')}", "", number(float(values.values[k, rest, top].sum())))
            )
        rows.append(("sum: the output", "", number(float(values.outputs[k, top]))))
        blocks.append(
            Table(
                f"{_row(found, int(around.rows[k]))}: what adds up to the output “{of.outputs[top]}”, against "
                f"{against}.",
                ("feature", "its value", "adds"),
                tuple(rows),
            )
        )
    return blocks


def on_the_way(found: Found) -> Section | None:
    """Along a line between two inputs."""
    cut, of = found.line, found.subject
    if cut is None or found.points is None:
        return None
    one, other = cut.rows
    what = "a point drawn at random" if found.drawn else "one data point"
    blocks: list[Block] = [
        Paragraph(
            f"Walk straight from {what} ({_row(found, one)}) to another ({_row(found, other)}). The way leads "
            f"through {how_many(len(cut.atlas), 'cell')}{_formula_changes(cut)}." + _answers(cut, of.classes)
        )
    ]
    if len(cut.atlas) <= _MOST_PIECES:
        blocks.append(_graph(found, cut))
    return Section("way", "On the way from one point to another", tuple(blocks))


def _graph(found: Found, cut: Cut) -> Figure:
    of, many = found.subject, len(cut.atlas) > _STRIP
    shown = list(range(min(_OUTPUTS, len(of.outputs))))
    if many and cut.classes is not None and len(of.outputs) > 1:
        shown = np.unique(cut.classes.label).tolist()[:_OUTPUTS]
    scene = line_graph_scene(
        cut.atlas,
        output=shown,
        strip=cut.classes is not None and not many,
        feature_names=["part of the way"],
        output_names=of.outputs,
        title="The outputs on the way",
    )
    caption = "The outputs on the way: straight between two dots. At each dot a gate switches."
    if many:
        scene = replace(scene, parts=tuple(part for part in scene.parts if not isinstance(part, Points)))
        caption = "The outputs on the way. Wherever there is a kink, a gate switches."
        if len(shown) < len(of.outputs):
            caption += " Shown are those that are the largest somewhere on it."
    elif any(isinstance(part, Polygons) for part in scene.parts):
        caption += " The strip at the bottom says "
        caption += "where the output is above 0." if of.by_sign else "which output is the largest."
    return Figure(
        scene, caption, f"{how_many(len(shown), 'line')} of {how_many(len(cut.atlas), 'straight piece')} each."
    )


def _formula_changes(cut: Cut) -> str:
    """Not every gate that switches changes the formula: what it does may not reach the outputs."""
    if cut.regions is None:
        return ""
    times = len(cut.regions) - 1
    if not times:
        return ", and the formula stays the same"
    return f", and the formula changes {'once' if times == 1 else how_many(times, 'time')}"


def _answers(cut: Cut, classes: tuple[str, ...] | None) -> str:
    if cut.classes is None or classes is None:
        return ""
    order = np.argsort(cut.classes.atlas.witnesses[:, 0], kind="stable")
    won = [classes[k] for k in cut.classes.label[order].tolist()]
    steps = [name for k, name in enumerate(won) if k == 0 or name != won[k - 1]]
    return f" The answers on the way are, in order: {listing(steps, 12)}."
