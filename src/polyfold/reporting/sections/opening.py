"""What the report is about: the network, the inputs that are looked at, the data; and the answers in short."""

from __future__ import annotations

import numpy as np

from polyfold.atlas.evidence import evidence_of
from polyfold.errors import how_many
from polyfold.reporting.blocks import Block, Folded, Items, Note, Paragraph, Section, Table, Tiles
from polyfold.reporting.figures.data import columns
from polyfold.reporting.figures.fit import Fit
from polyfold.reporting.found import Found
from polyfold.reporting.phrases import around, listing, number, percent, point_word
from polyfold.reporting.subject import Subject

_ROWS = 12
_KINDS = {
    "Linear": "weighted sums",
    "Rectify": "ReLU or the like",
    "Convolution": "weighted sums over small windows",
    "Largest": "largest of several numbers",
    "Clamp": "limits below and above",
    "Reshape": "the same numbers in another order",
    "Add": "sum of two values",
    "Concat": "values side by side",
}


def the_answers(found: Found) -> Section:
    """The main answers, in words that need no explanation."""
    of, whole = found.subject, found.whole
    tiles = [(f"{of.network.input_dim:,}", "numbers in")]
    tiles.append((f"{of.network.output_dim:,}", "numbers out" if of.classes is None else "numbers out, one an answer"))
    if of.classes is not None and of.network.output_dim == 1:
        tiles[-1] = ("1", "number out")
    lines = []
    if whole is not None:
        tiles.append((f"{len(whole.atlas):,}", "flat pieces"))
        proved = evidence_of(whole.atlas).proved
        lines.append(
            "Where this report looks, the network is put together from exactly "
            f"{how_many(len(whole.atlas), 'flat piece')}"
            + (" (proved)" if proved else "")
            + ": on each of them it is one plain formula."
        )
    elif found.atlas is not None and len(found.atlas):
        lines.append(
            f"More than {how_many(len(found.atlas), 'flat piece')} were found, on each of which the network is one "
            "plain formula. That is too many to list, so this report looks around single points."
        )
    else:
        lines.append(
            "The network is put together from flat pieces, on each of which it is one plain formula. Here they are "
            "too many to list, so this report looks around single points."
        )
    fit = found.fit
    if fit is not None and of.X is not None:
        if fit.right is not None:
            tiles.append((f"{fit.right:,} of {len(of.X):,}", "data points answered right"))
            lines.append(
                f"It answers {fit.right:,} of {how_many(len(of.X), 'data point')} right "
                f"({percent(fit.right / len(of.X))})."
            )
        if fit.mean_error is not None:
            tiles.append((number(fit.mean_error), "off on average, on the data"))
    if of.X is not None and not len(found.inside):
        lines.append("No data point lies where this report looks.")
    elif whole is not None and whole.summary is not None:
        outside = whole.summary.outside
        some = f"{whole.summary.points - outside:,} of {how_many(whole.summary.points, 'data point')} lie where this "
        some += "report looks. They"
        lines.append(
            f"{some if outside else 'The data'} lie in {len(whole.summary):,} of the pieces, so "
            f"{how_many(len(whole.summary), 'formula')} {'says' if len(whole.summary) == 1 else 'say'} what the "
            "network does with them."
        )
    changes = None if found.around is None else found.around.changes
    if changes is not None and len(changes) and np.isfinite(changes.distance).any():
        lines.append(
            f"Of the {point_word(found.drawn)}s looked at, the one nearest to a different answer is "
            f"{number(float(changes.distance.min()))} away from it, measured straight through the space of inputs."
        )
    if found.reduction is not None:
        saved = found.reduction.neurons_before - found.reduction.neurons_after
        tiles.append((f"{saved:,} of {found.reduction.neurons_before:,}", "units not needed"))
        lines.append(
            f"{saved:,} of its {found.reduction.neurons_before:,} inner units can be left out: what remains is "
            f"{found.reduction.guarantee}."
            if saved
            else "None of its inner units was found to be superfluous."
            if found.reduction.neurons_before
            else "It has no inner units that switch."
        )
    if found.left_out:
        lines.append(
            f"{how_many(len(found.left_out), 'thing')} could not be computed: “What is not in this report” says which, "
            "and why."
        )
    return Section("short", "In short", (Tiles(tuple(tiles)), Items(tuple(lines))))


def the_network(found: Found) -> Section:
    """Layers and weights."""
    of = found.subject
    blocks: list[Block] = [Paragraph(text) for text in of.origin]
    weights = sum(item.weights for item in found.inventory)
    blocks.append(
        Paragraph(
            f"The network holds {how_many(weights, 'weight')}. It reads "
            f"{how_many(of.network.input_dim, 'feature')}: {listing(of.features)}."
        )
    )
    widths = [stage.width for stage in of.program.stages]
    if widths:
        layers = how_many(len(widths), "layer")
        blocks.append(
            Paragraph(
                f"Its neurons with a ReLU or a similar switch stand in {layers} of "
                f"{listing([f'{w:,}' for w in widths])}."
            )
        )
        blocks.append(
            Paragraph(
                f"So it has {how_many(of.program.gates, 'gate')} in all, and what they do decides everything below."
            )
        )
    else:
        blocks.append(Paragraph("It has no switches at all: it is one and the same formula everywhere."))
    if of.classes is None:
        blocks.append(Paragraph(f"It puts out {listing(of.outputs)}, which is read as a quantity."))
    elif of.network.output_dim == 1:
        blocks.append(
            Paragraph(
                f"It puts out one number and decides between two classes: {of.classes[0]} where it is 0 or less, "
                f"{of.classes[1]} where it is more."
            )
        )
    else:
        blocks.append(
            Paragraph(
                f"It puts out one score for each of {how_many(len(of.outputs), 'class')[:-1]}es: "
                f"{listing(of.outputs, 10)}."
            )
        )
    if of.network.head is not None:
        blocks.append(
            Note(
                f"The model ends in a head ({of.network.head}), which makes its own outputs of these numbers. "
                "Everything below speaks of the numbers before it, the scores."
            )
        )
    blocks += [Note(sentence) for sentence in of.network.notes]
    rows = tuple(
        (
            item.name,
            _KINDS.get(item.kind, item.kind),
            " × ".join(map(str, item.shape)),
            f"{item.weights:,}" if item.weights else "",
            "" if item.least is None or item.greatest is None else f"{number(item.least)} to {number(item.greatest)}",
            f"{item.zeros:,}" if item.weights else "",
        )
        for item in found.inventory
    )
    table = Table(
        "The network's operations, from the first to the last.",
        ("name", "what it does", "numbers out", "weights", "from, to", "zeros"),
        rows,
        (0, 1),
    )
    blocks.append(table if len(rows) <= _ROWS else Folded(f"All {len(rows)} operations", (table,)))
    return Section("network", "What the network is made of", tuple(blocks))


def where_we_look(found: Found) -> Section:
    """The domain, and the data in it."""
    of = found.subject
    blocks: list[Block] = [Paragraph(f"The domain of this report is {_domain(of)}. {of.why}")]
    if of.X is None:
        if found.drawn:
            blocks.append(
                Note(
                    f"No data were given. Where single inputs are needed, {how_many(len(found.points), 'point')} "
                    "drawn at random from the domain stand in for them."
                    if found.points is not None
                    else ""
                )
            )
        return Section("domain", "Which inputs this report looks at", tuple(blocks))
    blocks.append(Paragraph(f"{how_many(len(of.X), 'data point')} {of.data_origin or 'were given with the network'}."))
    outside = len(of.X) - len(found.inside)
    if outside:
        blocks.append(
            Note(
                f"{outside:,} of them {'lies' if outside == 1 else 'lie'} outside the domain. What is said below about "
                "single data points is about the others."
                if len(found.inside)
                else "All of them lie outside the domain, so that nothing is said below about single data points."
            )
        )
    ranges = columns(of.X)
    shown = range(min(_ROWS, len(of.features)))
    rows = tuple(
        (
            of.features[k],
            number(float(ranges.least[k])),
            number(float(ranges.median[k])),
            number(float(ranges.greatest[k])),
        )
        for k in shown
    )
    more = "" if len(rows) == len(of.features) else f" The first {len(rows)} of {len(of.features):,} features."
    blocks.append(Table(f"The data, feature by feature.{more}", ("feature", "least", "median", "greatest"), rows))
    if found.fit is not None:
        blocks += _fit(of, found.fit, len(of.X))
    return Section("domain", "Which inputs this report looks at", tuple(blocks))


def _fit(of: Subject, fit: Fit, count: int) -> list[Block]:
    blocks: list[Block] = []
    if fit.right is not None and fit.table is not None and of.classes is not None:
        share = percent(fit.right / count)
        blocks.append(
            Paragraph(f"Their true classes are known: the network is right on {fit.right:,} of {count:,} ({share}).")
        )
        if len(of.classes) <= _ROWS:
            rows = tuple(
                (name, *(f"{times:,}" for times in fit.table[k].tolist())) for k, name in enumerate(of.classes)
            )
            caption = "How often which true class (rows) got which answer (columns)."
            blocks.append(Table(caption, ("true class", *of.classes), rows))
    if fit.mean_error is not None and fit.largest_error is not None:
        blocks.append(
            Paragraph(
                f"Their true outputs are known: the network is off by {number(fit.mean_error)} on average and by "
                f"{number(fit.largest_error)} at most."
            )
        )
    return blocks


def _domain(of: Subject) -> str:
    if of.sides is None:
        return "all inputs there are" if not of.domain.rows else of.domain.describe()
    lo, hi = of.sides
    if len(lo) > 1 and (lo == lo[0]).all() and (hi == hi[0]).all():
        return f"all inputs with every feature between {number(float(lo[0]))} and {number(float(hi[0]))}"
    return f"all inputs with {around(lo, hi, of.features)}"
