"""Plotly figures put into one, with a slider that shows one of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_ROOM = 95


def with_slider(figures: Sequence[Figure], names: Sequence[str]) -> Figure:
    """The first figure, with what the others show behind a slider; axes, title and notes stay as they are."""
    from plotly.graph_objects import Figure

    owner = [number for number, figure in enumerate(figures) for _ in figure.data]
    traces = [trace for figure in figures for trace in figure.data]
    steps = [
        {
            "label": name,
            "method": "update",
            "args": [{"visible": [k == number for k in owner]}, {"images": list(figures[number].layout.images)}],
        }
        for number, name in enumerate(names)
    ]
    found = Figure(traces, figures[0].layout)
    found.for_each_trace(lambda trace: trace.update(visible=False))
    for trace in found.data[: len(figures[0].data)]:
        trace.visible = True
    below, height = found.layout.margin.b, found.layout.height
    found.update_layout(
        sliders=[{"active": 0, "steps": steps, "pad": {"t": below - 8}, "y": 0, "yanchor": "top"}],
        height=height + _ROOM,
        margin_b=below + _ROOM,
    )
    return found
