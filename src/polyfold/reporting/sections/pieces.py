"""How many pieces there are, what proves it, how they fit together, and the largest of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polyfold.atlas.certificate import Certificate
from polyfold.engine.bounds.formulas import in_short
from polyfold.errors import how_many
from polyfold.plotting.scene.histograms import facet_histogram
from polyfold.reporting.blocks import Block, Figure, Folded, Items, Note, Paragraph, Section, Table
from polyfold.reporting.found import Found, Whole
from polyfold.reporting.phrases import formula, listing, number, percent
from polyfold.stats.facets.statistics import FacetStatistics

_LARGEST = 5
_DIMENSIONS = ("corners", "edges", "flat areas", "bodies")
_KINDS = {
    "upper": "upper bound: never more than",
    "lower": "other weights would give at least",
    "estimate": "networks with random weights have about",
    "facets": "sides that a straight way crosses at most",
}
_PROVED = (
    "its witness has been proved to lie inside, so that the cell exists",
    "the facets listed have been proved to be facets, and to be all of them",
    "behind each facet lies the cell that is listed there, or the domain ends",
)


def how_many_pieces(found: Found) -> Section:
    """Cells and regions, what is proved, and what theory allows."""
    whole = found.whole
    blocks: list[Block] = [
        Paragraph(
            "At every input each gate is on or off, so every input has a pattern. Where the pattern stays the "
            "same, nothing switches."
        ),
    ]
    if whole is not None:
        blocks.append(
            Paragraph(
                f"On the domain there are {len(whole.atlas):,} cells: no more, and no fewer."
                if len(whole.atlas) > 1
                else "All of the domain is 1 cell: nothing switches anywhere on it."
            )
        )
        if whole.regions is not None:
            same = len(whole.regions) == len(whole.atlas)
            blocks.append(
                Paragraph(
                    "On each cell the network is one affine map. "
                    + (
                        f"No two neighbours have the same one, so there are {len(whole.regions):,} regions as well."
                        if same and len(whole.atlas) > 1
                        else "So the cell is 1 region, too."
                        if same
                        else "Some neighbours have the same one: taken together there are "
                        f"{how_many(len(whole.regions), 'region')}."
                    )
                )
            )
        blocks += _certificate(whole.atlas.certificate)
    else:
        blocks += _not_listed(found)
    blocks += _bounds(found)
    return Section("pieces", "How many pieces it has", tuple(blocks))


def _not_listed(found: Found) -> list[Block]:
    counted = found.count
    if counted is not None and counted.complete:
        text = (
            f"On the domain there are exactly {how_many(counted.cells, 'cell')}. They were counted, but are too "
            "many to be listed here."
        )
    elif found.atlas is not None and len(found.atlas):
        least = max(len(found.atlas), 0 if counted is None else counted.cells)
        text = (
            f"At least {how_many(least, 'cell')} were found on the domain before a limit ended the search; there "
            "are more."
        )
    else:
        text = "The cells of this network were not listed: “What is not in this report” says why."
    return [Note(text), Paragraph("On each cell the network is one affine map all the same.")]


def _certificate(certificate: Certificate) -> list[Block]:
    blocks: list[Block] = []
    if certificate.failed_checks:
        blocks.append(
            Note(
                "A check FAILED, so nothing in this report can be relied on. This is a fault of polyfold's: please "
                "report it."
            )
        )
    elif certificate.level == "certified" and certificate:
        blocks.append(
            Paragraph(
                "The certificate says “certified”: this is a proof, not an estimate. Of every cell three things "
                "are shown:"
            )
        )
        blocks.append(Items(_PROVED))
        blocks.append(
            Paragraph(
                "So no way leads out of the cells listed, except out of the domain; hence they fill it, and none "
                "is missing. The proof calculates with bounds on every rounding error, and in exact whole numbers "
                "where these cannot tell. It uses no samples and no tolerances, and it does not ask how the list "
                "was made."
            )
        )
    else:
        blocks.append(
            Paragraph(
                f"The certificate says “{certificate.standing}”: the search came to its end and decided every switch "
                "exactly, and what the list of checks says was looked at, but that is less than a proof."
            )
        )
    rows = tuple(("passed" if check.passed else "FAILED", check.name, check.detail) for check in certificate.checks)
    if rows:
        table = Table("What was looked at, and how it came out.", ("", "check", "figures"), rows, (0, 1, 2))
        blocks.append(Folded("The checks behind the certificate", (table,)))
    return blocks


def _bounds(found: Found) -> list[Block]:
    entries = [entry for entry in found.bounds if entry.value is not None and entry.kind != "facets"]
    rows = tuple(
        (_KINDS[entry.kind], in_short(entry.value), entry.name) for entry in entries if entry.value is not None
    )
    if found.whole is not None:
        rows = (("cells that this network has", f"{len(found.whole.atlas):,}", "counted"), *rows)
    unknown = tuple((entry.name, entry.reason or "") for entry in found.bounds if entry.value is None)
    text = "How many cells could there be? Theory gives an upper bound from the sizes of the layers alone"
    if found.whole is not None and len(found.whole.atlas):
        text += (
            f"; the lowest is {in_short(found.bounds.upper)}, and this network stays far below it."
            if found.bounds.upper > 10 * len(found.whole.atlas)
            else f"; the lowest is {in_short(found.bounds.upper)}."
        )
    else:
        text += f"; the lowest is {in_short(found.bounds.upper)}."
    blocks: list[Block] = [
        Paragraph(text),
        Table("Numbers of cells, counted and by theory.", ("", "cells", "who says so"), rows, (0, 2)),
    ]
    if unknown:
        table = Table("Results that say nothing about this network.", ("name", "why"), unknown, (0, 1))
        blocks.append(Folded("Results that do not apply here", (table,)))
    return blocks


def how_they_fit(found: Found) -> Section | None:
    """Faces, facets and neighbours."""
    whole = found.whole
    if whole is None:
        return None
    blocks: list[Block] = []
    atlas = whole.atlas
    if whole.facets is not None:
        blocks.append(
            Paragraph(
                f"Neighbouring cells meet in facets: {atlas.inner_facets:,} between cells, and "
                f"{atlas.boundary_facets:,} where the domain ends. A cell has {number(whole.facets.mean)} of them "
                "on average."
            )
        )
        if (whole.facets.distribution > 0).sum() > 1:
            blocks.append(_histogram(whole.facets))
        rows = tuple(
            (name, f"{count:,}")
            for name, count in zip(whole.facets.layers, whole.facets.layer_facets.tolist(), strict=True)
        )
        if rows:
            blocks.append(Table("Which layer's walls the facets between cells lie on.", ("layer", "facets"), rows))
    if whole.f_vector is not None:
        faces = tuple((str(k), _dimension(k, atlas.dim), f"{count:,}") for k, count in enumerate(whole.f_vector))
        blocks.append(Paragraph("Cells, their sides, the sides of these and so on down to corners are all faces."))
        blocks.append(Table("The f-vector, each face counted once.", ("dimension", "faces", "how many"), faces, (0, 1)))
        euler = atlas.euler_characteristic()
        sums = " ".join(f"{'−' if k % 2 else '+'} {count:,}" for k, count in enumerate(whole.f_vector)).removeprefix(
            "+ "
        )
        blocks.append(
            Paragraph(f"Their Euler characteristic is {sums} = {euler:,}".replace("-", "−") + _expected(whole, euler))
        )
    if whole.diameter is not None:
        blocks.append(_neighbours(whole))
    return Section("fit", "How the pieces fit together", tuple(blocks))


def _expected(whole: Whole, euler: int) -> str:
    if whole.atlas.bounded.all():
        return ", as it must be." if euler == 1 else ", but it should be 1: a fault of polyfold's."
    if whole.atlas.domain.rows:
        return "."
    right = euler == (-1) ** whole.atlas.dim
    return ", as it must be on a whole space." if right else ", which cannot be: a fault of polyfold's."


def _dimension(k: int, dim: int) -> str:
    if k == dim:
        return "cells"
    return _DIMENSIONS[k] if k < len(_DIMENSIONS) else f"{k}-dimensional sides"


def _histogram(facets: FacetStatistics) -> Figure:
    said = listing([f"{count:,} with {k}" for k, count in enumerate(facets.distribution.tolist()) if count], 12)
    return Figure(
        replace(facet_histogram(facets, title="How many facets cells have"), notes=()),
        "How many cells (height) have how many facets (along the bottom).",
        f"Cells by their number of facets: {said}.",
    )


def _neighbours(whole: Whole) -> Paragraph:
    found = whole.diameter
    assert found is not None
    far = f"{found.lower:,}" if found.diameter is not None else f"between {found.lower:,} and {found.upper:,}"
    one, other = found.ends
    text = f"The dual graph of the {how_many(found.nodes, 'cell')} has diameter {far}"
    if found.nodes > 1:
        text += f": to walk from cell {one} to cell {other} one must cross {found.lower:,} facets, on the shortest way"
    text += "."
    if found.radius is not None and found.nodes > 1:
        text += f" From its middle, cell {found.centre_node}, no cell is more than {found.radius:,} facets away."
    return Paragraph(text)


def largest_pieces(found: Found) -> Section | None:
    """The cells that fill most of the domain, with their maps."""
    whole = found.whole
    if whole is None or whole.volumes is None:
        return None
    of, volumes = found.subject, whole.volumes
    order = np.argsort(-volumes, kind="stable")[:_LARGEST]
    A, c = whole.atlas.maps(order)
    share = volumes / volumes.sum()
    text = (
        f"The {how_many(len(order), 'largest cell')} of {len(volumes):,} fill {percent(float(share[order].sum()))} "
        "of the domain. On each of them the network is exactly this affine map (numbers rounded here):"
    )
    if len(order) == len(volumes):
        text = (
            "These are all cells, with how much of the domain each fills and the affine map that the network is "
            "there (numbers rounded):"
        )
    rows = []
    for row, cell in enumerate(order.tolist()):
        for k, name in enumerate(of.outputs[:_LARGEST]):
            first = (str(cell), percent(float(share[cell]))) if k == 0 else ("", "")
            rows.append((*first, f"{name} = {formula(A[row, k], float(c[row, k]), of.features)}"))
    caption = "The largest cells and their maps."
    if len(of.outputs) > _LARGEST:
        caption += f" The first {_LARGEST} of {len(of.outputs)} outputs."
    table = Table(caption, ("cell", "part of the domain", "formula there"), tuple(rows), (0, 2))
    return Section("largest", "The largest pieces and their formulas", (Paragraph(text), table))
