"""Extreme values, means and steepness, over the whole domain."""

from __future__ import annotations

from polyfold.reporting.blocks import Block, Note, Paragraph, Section, Table
from polyfold.reporting.found import Found
from polyfold.reporting.phrases import listing, number, place
from polyfold.stats.extrema import Extremum


def exact_statistics(found: Found) -> Section | None:
    """Smallest and largest outputs with their places, means, and the Lipschitz constant."""
    whole, of = found.whole, found.subject
    if whole is None:
        return None
    blocks: list[Block] = []
    if whole.lowest is not None and whole.highest is not None:
        blocks.append(
            Paragraph(
                "A plain formula on a piece with straight sides is smallest and largest in corners, so the extreme "
                "values of the network are found exactly, as fractions of whole numbers; they are rounded here."
            )
        )
        rows = []
        for name, low, high in zip(of.outputs, whole.lowest, whole.highest, strict=False):
            for word, one in (("smallest", low), ("largest", high)):
                rows.append((name, word, _value(one), _where(one, of.features), _proof(one)))
        blocks.append(
            Table(
                "The smallest and largest value of each output on the domain.",
                ("output", "", "value", "where", ""),
                tuple(rows),
                (0, 1, 3, 4),
            )
        )
        if any(one.ray is not None for one in (*whole.lowest, *whole.highest)):
            blocks.append(
                Note(
                    "The domain has no end, and an output grows or falls for ever in some direction: then there is "
                    "no extreme value."
                )
            )
    if whole.mean is not None and whole.deviation is not None:
        sizes = [
            (name, number(float(m)), number(float(s)))
            for name, m, s in zip(of.outputs, whole.mean, whole.deviation, strict=True)
        ]
        blocks.append(
            Paragraph(
                "The mean of each output over the whole domain comes from the volumes and centres of the cells, "
                "not from samples; only rounding is left."
            )
        )
        blocks.append(
            Table(
                "Mean and standard deviation of the outputs over the domain.",
                ("output", "mean", "standard deviation"),
                tuple(sizes),
            )
        )
    if whole.lipschitz is not None:
        steepest = whole.lipschitz
        cells = listing([str(cell) for cell in steepest.cells.tolist()])
        blocks.append(
            Paragraph(
                f"The Lipschitz constant on the domain is {number(steepest.value)}: when an input moves by some "
                f"distance, all outputs together move by at most {number(steepest.value)} times as much (both "
                "measured straight, and rounded here). No smaller number would do: it is reached in "
                f"{'cell' if len(steepest.cells) == 1 else 'cells'} {cells}."
            )
        )
    return Section("statistics", "How large, how small, how steep", tuple(blocks)) if blocks else None


def _value(one: Extremum) -> str:
    return "no limit" if one.ray is not None else number(one.value)


def _where(one: Extremum, features: tuple[str, ...]) -> str:
    if one.ray is not None:
        return f"ever farther out from cell {one.cell}"
    return f"{place(one.point, features)} (cell {one.cell})"


def _proof(one: Extremum) -> str:
    if one.settled:
        return "proved" if one.proved else f"the best on all cells, which are {one.evidence.word}"
    return "the best one found; a limit ended the proof"
