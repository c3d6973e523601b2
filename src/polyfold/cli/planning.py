"""Before a long run: bounds on the number of cells, and what finding them would take."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from polyfold.engine.bounds.formulas import in_short
from polyfold.size.bounds import Bounds
from polyfold.size.estimate import Estimate

_UNITS = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
_KINDS = {"upper": "at most", "lower": "can be made", "estimate": "about", "facets": "a straight way crosses"}


def planning_facts(bounds: Bounds, estimate: Estimate | None, too_large: str | None) -> dict[str, Any]:
    """What `polyfold info --json` prints beside the network itself."""
    cost = {"reason": too_large} if too_large is not None else None
    return {"bounds": bounds.to_json(), "estimate": cost if estimate is None else estimate.to_json()}


def planning_panel(bounds: Bounds, estimate: Estimate | None, too_large: str | None) -> RenderableType:
    """The same for a terminal."""
    table = Table("cells", "by", "", box=None, pad_edge=False)
    for entry in bounds:
        said = entry.reason or "" if entry.value is None else f"{_KINDS[entry.kind]} {in_short(entry.value)}"
        if entry.kind == "facets":
            said += " facets"
        table.add_row(entry.name, entry.formula, said)
    lines: list[RenderableType] = [Text(), table, Text()]
    if too_large is not None:
        lines.append(Text(f"cannot be unfolded here: {too_large}"))
    elif estimate is not None:
        lines += map(Text, _sentences(estimate))
    return Group(*lines)


def _sentences(estimate: Estimate) -> list[str]:
    if estimate.cells_a_second is None or estimate.bytes_a_cell is None:
        return [f"no estimate of the time: {estimate.reason}"]
    rates = f"{estimate.cells_a_second:,.0f} cells per second, {estimate.bytes_a_cell:,.0f} bytes per cell"
    if estimate.exact:
        return [f"all {estimate.cells:,} cells were found ({rates})"]
    found = f"a short run found {estimate.least:,} cells and did not come to its end ({rates})"
    if estimate.cells is None or estimate.error is None:
        return [found, f"no estimate of the time: {estimate.reason}"]
    assert estimate.seconds_needed is not None and estimate.memory is not None
    share = 200 * estimate.error / estimate.cells
    return [
        found,
        f"estimated from {estimate.parts} parts of the box: {in_short(round(estimate.cells))} cells, give or take "
        f"{share:.0f} % (two standard errors)",
        f"at that rate: {_duration(estimate.seconds_needed)}, and {_bytes(estimate.memory)} for the atlas; a run needs "
        "more on its way",
    ]


def _duration(seconds: float) -> str:
    for unit, name in _UNITS:
        if seconds >= 2 * unit or unit == 1.0:
            return f"{seconds / unit:,.3g} {name}"
    raise AssertionError("the last unit takes all")


def _bytes(count: float) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:,.3g} {name}"
    return f"{count / 1e3:,.3g} kB"
