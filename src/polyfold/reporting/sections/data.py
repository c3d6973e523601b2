"""Where the data are: the regions that matter, in words, and what decides the answer."""

from __future__ import annotations

import numpy as np

from polyfold.errors import how_many
from polyfold.reporting.blocks import Block, Note, Paragraph, Section, Table
from polyfold.reporting.found import Found, Whole
from polyfold.reporting.phrases import around, formula, inside, listing, number, percent
from polyfold.reporting.subject import Subject

_REGIONS, _OUTPUTS = 8, 10


def where_the_data_are(found: Found) -> Section | None:
    """The regions with data, those with the most points first; none if no data lie in the domain."""
    whole, of = found.whole, found.subject
    if whole is None or whole.summary is None or not len(whole.summary):
        return None
    summary = whole.summary
    blocks: list[Block] = [
        Paragraph(
            f"{how_many(summary.points - summary.outside, 'data point')} lie in {len(summary):,} of "
            f"{how_many(len(summary) + summary.unused, 'region')}; {summary.unused:,} hold none. So for these data "
            f"the network is nothing but {how_many(len(summary), 'affine map')}, one for each region:"
        )
    ]
    if summary.outside:
        blocks.append(
            Note(f"{how_many(summary.outside, 'data point')} lie outside the domain and are not looked at here.")
        )
    lo, hi = summary.boxes.lo, summary.boxes.hi
    for row in range(min(len(summary), _REGIONS)):
        region = int(summary.ids[row])
        text = (
            f"Region {region} holds {how_many(int(summary.counts[row]), 'data point')} "
            f"({percent(summary.counts[row] / summary.points)})"
        )
        if summary.classes is not None and summary.class_counts is not None:
            text += f": {_counted(summary.classes, summary.class_counts[row])}"
        text += f". It spans {around(lo[row], hi[row], of.features, of.sides)}."
        text += _answers(of, whole, region)
        if summary.correct is not None:
            text += f" There {int(summary.correct[row]):,} of {int(summary.counts[row]):,} are answered right."
        blocks.append(Paragraph(text))
        A, c = summary.maps
        rows = tuple(
            (of.outputs[k], formula(A[row, k], float(c[row, k]), of.features))
            for k in range(min(_OUTPUTS, len(of.outputs)))
        )
        caption = f"The map in region {region}."
        if len(of.outputs) > _OUTPUTS:
            caption += f" The first {_OUTPUTS} of {len(of.outputs)} outputs."
        blocks.append(Table(caption, ("output", "formula"), rows, (0, 1)))
    if len(summary) > _REGIONS:
        left = summary.counts[_REGIONS:]
        blocks.append(
            Note(
                f"{how_many(len(left), 'more region')} with fewer points each hold "
                f"{how_many(int(left.sum()), 'data point')}."
            )
        )
    return Section("data", "Where the data are, in words", tuple(blocks))


def _answers(of: Subject, whole: Whole, region: int) -> str:
    """Which classes win in a region: that is exact, since cells were cut where classes tie."""
    if whole.region_classes is None or of.classes is None:
        return ""
    won = [of.classes[k] for k in np.flatnonzero(whole.region_classes[region]).tolist()]
    if len(won) == 1:
        return f" All of it is answered {won[0]}."
    said = f" Within it the answer is {' or '.join([', '.join(won[:-1]), won[-1]])}"
    if of.by_sign:
        return f"{said}: {of.classes[1]} where the formula below is above 0, and {of.classes[0]} elsewhere."
    return f"{said}: whichever formula below gives the largest score."


def _counted(names: tuple[str, ...], counts: np.typing.NDArray[np.int64]) -> str:
    order = np.argsort(-counts, kind="stable")
    return listing([f"{counts[k]:,} {names[k]}" for k in order.tolist() if counts[k]], 12)


def what_decides(found: Found) -> Section | None:
    """Rules for classes, how much room each has, and where they meet."""
    whole, of = found.whole, found.subject
    if whole is None or whole.classes is None or of.classes is None:
        return None
    blocks: list[Block] = []
    if whole.areas is not None:
        rows = tuple(
            (name, percent(float(whole.areas.shares[k])), number(float(whole.areas.areas[k])))
            for k, name in enumerate(of.classes)
        )
        blocks.append(
            Paragraph(
                "How much of the domain does each class win? An input drawn at random, all of the domain equally "
                "likely, gets these answers:"
            )
        )
        blocks.append(Table("Part of the domain that each class wins.", ("class", "part", "size"), rows))
        if float(whole.areas.tied.sum()) > 0:
            blocks.append(
                Note(
                    f"On a part of the domain the output is 0 exactly; the answer is {of.classes[0]} there."
                    if of.by_sign
                    else "On a part of the domain two classes have the very same score; the first one listed is the "
                    "answer there."
                )
            )
    blocks += _rules(of, whole)
    silent = [name for k, name in enumerate(of.classes) if not (whole.classes.label == k).any()]
    if silent:
        where, why = "", "another class always has the larger score, or the same one and comes first"
        if of.by_sign and silent == [of.classes[1]]:
            why = "the output is never above 0"
        elif of.by_sign:
            where, why = ", unless on edges of cells,", "the output is above 0 inside of them"
        blocks.append(Note(f"Nowhere on the domain{where} is the answer {listing(silent)}: {why}."))
    blocks += _boundary(found, whole)
    return Section("decides", "What decides the answer", tuple(blocks))


def _rules(of: Subject, whole: Whole) -> list[Block]:
    if not whole.rules or of.classes is None:
        return []
    text = "A rule of thumb for each class, made so that it covers many of the data."
    if all(rule.proved for rule in whole.rules):
        text += " The rules are proved: in all of each box, not only at the data, "
        text += "the output is on one side of 0." if of.by_sign else "no other class has a larger score."
    rows = tuple(
        (
            f"If {inside(rule.lo, rule.hi, of.features, of.sides)}, then the answer is {of.classes[rule.label]}.",
            f"{rule.points:,} of {rule.of_class:,}",
        )
        for rule in whole.rules
    )
    tie = "the output may be 0" if of.by_sign else "another class may have the same score"
    caption = f"One rule for each class. On the edge of a box {tie}."
    return [Paragraph(text), Table(caption, ("rule", "data with this answer that it covers"), rows)]


def _boundary(found: Found, whole: Whole) -> list[Block]:
    of = found.subject
    if whole.boundary is None or of.classes is None:
        return []
    if not len(whole.boundary):
        return [Paragraph("There is no decision boundary: the whole domain gets one answer.")]
    blocks: list[Block] = [
        Paragraph(
            f"The decision boundary is made of {how_many(len(whole.boundary), 'straight piece')}. It was not "
            "sampled: cells were cut where classes tie, so every piece of it is known."
        )
    ]
    if whole.borders is not None:
        size = ("points", "length", "area")[whole.atlas.dim - 1] if whole.atlas.dim <= 3 else "size"
        rows = tuple(
            (
                f"{of.classes[border.pair[0]]} and {of.classes[border.pair[1]]}",
                f"{border.pieces:,}",
                number(border.measure),
            )
            for border in whole.borders
        )
        blocks.append(Table("Where two classes meet.", ("between", "pieces", size), rows))
    return blocks
