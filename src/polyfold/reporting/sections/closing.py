"""What the network can do without, what the report does not have, and how to go on."""

from __future__ import annotations

from polyfold.errors import how_many
from polyfold.reporting.blocks import Block, Folded, Items, Note, Paragraph, Section, Table
from polyfold.reporting.found import Found

_STEPS = 20
_KINDS = {
    "unread": "nothing reads them",
    "constant": "they always put out the same",
    "never active": "they are 0 on the whole domain",
    "always active": "they never switch, so that others can do their part",
    "proportional": "they repeat another one",
    "opposite": "they mirror another one",
}


def could_be_smaller(found: Found) -> Section | None:
    """What pf.reduce found."""
    smaller = found.reduction
    if smaller is None:
        return None
    saved = smaller.neurons_before - smaller.neurons_after
    blocks: list[Block] = []
    if saved:
        blocks.append(
            Paragraph(
                f"Of {how_many(smaller.neurons_before, 'neuron')}, {saved:,} can be left out: the network with the "
                f"other {smaller.neurons_after:,} is {smaller.guarantee}, on the domain."
            )
        )
        rows = tuple((_KINDS[kind], f"{count:,}") for kind, count in smaller.counts.items())
        blocks.append(Table("Why neurons can go.", ("why", "neurons"), rows))
        steps = tuple((step.neuron, step.reason, step.proof) for step in smaller.steps[:_STEPS])
        more = "" if len(smaller.steps) <= _STEPS else f" The first {_STEPS} of {len(smaller.steps):,}."
        table = Table(
            f"Each with its reason, and what proves it.{more}", ("neuron", "reason", "proof"), steps, (0, 1, 2)
        )
        blocks.append(Folded("Which neurons, and why", (table,)))
        blocks.append(Paragraph("polyfold reduce writes the smaller network to a file."))
    else:
        blocks.append(
            Paragraph(
                f"None of the {how_many(smaller.neurons_before, 'neuron')} was found to be superfluous on the domain."
                if smaller.neurons_before
                else "It has no neurons that switch, so there is nothing to leave out."
            )
        )
    if smaller.undecided:
        blocks.append(
            Note(
                f"Of {how_many(len(smaller.undecided), 'neuron')} it could not be decided whether they ever switch; "
                "some of them may be superfluous, too."
            )
        )
    return Section("smaller", "Could the network be smaller?", tuple(blocks))


def left_out(found: Found) -> Section:
    """What is missing, and why."""
    blocks: list[Block] = []
    if found.left_out:
        blocks.append(Paragraph("What the report does not have, and why not:"))
        rows = tuple((item.what, item.why) for item in found.left_out)
        blocks.append(Table("What was not computed.", ("what", "why"), rows, (0, 1)))
    else:
        blocks.append(Paragraph("Nothing: all that a report can have was computed."))
    blocks.append(Paragraph("To go on from here:"))
    blocks.append(
        Items(
            (
                "polyfold unfold MODEL --out FOLDER keeps all cells in a file that Python can open: polyfold.open(...)",
                "polyfold explain MODEL --data X.csv has the shares of all features for every row",
                "a larger --max-seconds or --max-cells allows more, a smaller --box needs less",
            )
        )
    )
    return Section("missing", "What is not in this report", tuple(blocks))
