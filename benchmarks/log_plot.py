"""A plot of series of means with error bars over named places, on a logarithmic scale."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

from matplotlib.figure import Figure

COLOURS = ("#b2182b", "#ef8a62", "#2166ac", "#67a9cf")


@dataclass(frozen=True)
class Series:
    """A mean and a standard deviation for each place; None where there is none."""

    name: str
    points: list[tuple[float, float] | None]


def draw(title: str, places: list[str], places_are: str, values_are: str, series: list[Series]) -> Figure:
    """The picture. Bars reach one standard deviation up and down."""
    if len(series) > len(COLOURS):
        raise ValueError(f"there are colours for {len(COLOURS)} series; these are {len(series)}")
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel=places_are, ylabel=values_are, axisbelow=True)
    # A bar that would reach zero or beyond ends at the axis.
    axes.set_yscale("log", nonpositive="clip")
    axes.grid(axis="y", color="#ddd")
    axes.set_xticks(range(len(places)), places)
    axes.set_xlim(-0.5, len(places) - 0.5)
    for index, (each, colour) in enumerate(zip(series, COLOURS, strict=False)):
        # Series stand a little apart, so that their bars do not hide one another.
        aside = 0.12 * (index - (len(series) - 1) / 2)
        across = [k + aside for k in range(len(places))]
        means, deviations = zip(*(point or (nan, nan) for point in each.points), strict=True)
        axes.errorbar(across, means, deviations, fmt="o", ms=4, lw=1, capsize=2, color=colour, label=each.name)
    figure.legend(loc="outside upper left", frameon=False)
    return figure
