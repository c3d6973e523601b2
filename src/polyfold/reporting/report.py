"""pf.report: everything that is worth knowing about one network, as one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from polyfold._base.clock import Report as Progress
from polyfold._base.clock import running
from polyfold._base.files import atomically
from polyfold._base.options import whole_number
from polyfold._base.question import question
from polyfold._base.result import Result, answered
from polyfold._base.types import ArrayLike
from polyfold.domain.domain import DomainLike
from polyfold.engine.source import SourceLike
from polyfold.errors import StorageError
from polyfold.reporting.collect.everything import collect
from polyfold.reporting.found import Found
from polyfold.reporting.page import page
from polyfold.reporting.sections import closing, data, opening, pictures, pieces, single, statistics
from polyfold.reporting.subject import Subject, subject

# A page about more cells than this is too large for a browser, and takes minutes.
MAX_CELLS = 100_000

_SECTIONS = (
    opening.the_answers,
    opening.the_network,
    opening.where_we_look,
    pieces.how_many_pieces,
    pictures.what_it_looks_like,
    pieces.how_they_fit,
    pieces.largest_pieces,
    data.where_the_data_are,
    data.what_decides,
    statistics.exact_statistics,
    single.how_safe,
    single.what_features_add,
    single.on_the_way,
    closing.could_be_smaller,
    closing.left_out,
)


@dataclass(frozen=True, eq=False, repr=False)
class Report(Result):
    """A report: what was found, and the page that says it.

    It rests on many answers, each with evidence of its own: those in `found` say what is proved.

    Attributes
    ----------
    found : Found
        All results, and what was left out.
    """

    found: Found

    def facts(self) -> dict[str, Any]:
        left_out = [{"what": each.what, "why": each.why} for each in self.found.left_out]
        return {"name": self.found.subject.name, "left_out": left_out}

    def __repr__(self) -> str:
        missing = len(self.found.left_out)
        return (
            f"Report on {self.found.subject.name}: {len(self.html) / 1000:,.0f} kB of HTML, {missing} things left out"
        )

    @cached_property
    def html(self) -> str:
        """The whole page. The same results give the same text."""
        of = self.found.subject
        sections = [section for write in _SECTIONS if (section := write(self.found)) is not None]
        foot = (
            f"Written by polyfold {version('polyfold')}. This file needs no connection and loads nothing.",
            (
                f"Network {of.program.digest[:16]}, domain {of.domain.digest[:16]}: the first digits of their "
                "SHA-256 sums."
            ),
        )
        return page(f"Report on {of.name}", "What this network computes, exactly and in plain words", sections, foot)

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" style="width: 100%; height: 40rem; border: 0"></iframe>'
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        target = Path(path)
        if target.is_dir():
            raise StorageError(f"cannot write to {str(target)!r}: it is a folder")
        with atomically(target) as temporary:
            temporary.write_text(self.html, encoding="utf-8")


@question("report")
def report(
    source: SourceLike,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    domain: DomainLike = None,
    *,
    out: str | PathLike[str] | None = None,
    name: str | None = None,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    image_shape: Sequence[int] | None = None,
    max_cells: int | None = MAX_CELLS,
    max_seconds: float | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
) -> Report:
    """A page about one network that opens without a connection: counts with proofs, formulas, statistics, pictures.

    What does not fit into the time, or cannot be asked of this network, is left out, and the page says so.

    Parameters
    ----------
    source : SourceLike
        A model, or an atlas of one.
    X : array of float, shape (n, d), optional
        Inputs to look at closely. The columns of a data frame name the features.
    y : array, shape (n,), optional
        For every row of X the name or number of its class; of a network with one output, what it should have said.
    domain : DomainLike, optional
        `pf.box` or `pf.polytope`. Without one it is a box around the data, and without data all of R^d.
    out : path, optional
        A file to write the page to.
    name : str, optional
        What the network is called in the page.
    feature_names : sequence of str, optional
        One per input.
    output_names : sequence of str, optional
        One per output. Two names make a network with one output a classifier: the first is that of outputs up to 0.
    image_shape : sequence of int, optional
        (rows, columns), or with channels in front, if inputs are pictures and the network does not say so.
    max_cells : int, optional
        How many cells to list; of more the page has the number, if there is time to count.
    max_seconds : float, optional
        The limit; what does not fit is left out.
    threads : int, optional
        The number of threads (default: one per CPU).
    progress : bool or callable
        True for a line on standard error, or a function that is called with `Progress` events.

    Returns
    -------
    Report
        The page, in `html`, and in `found` all results behind it.

    Examples
    --------
    >>> import polyfold as pf
    >>> hat = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
    >>> found = pf.report(hat, domain=pf.box(-1, 3), feature_names=["time"])
    >>> "<h1>Report on a network from arrays</h1>" in found.html
    True
    """
    about = subject(
        source,
        X,
        y,
        domain,
        name=name,
        feature_names=feature_names,
        output_names=output_names,
        image_shape=image_shape,
    )
    return report_on(about, out=out, max_cells=max_cells, threads=threads)


def report_on(
    about: Subject,
    *,
    out: str | PathLike[str] | None = None,
    max_cells: int | None,
    threads: int | None,
) -> Report:
    """The same for a subject that has been looked over, in the time of the running clock."""
    if max_cells is not None:
        whole_number("max_cells", max_cells, 1 << 31)
    collected = collect(about, max_cells=max_cells, threads=threads)
    found = answered(Report(collected), stopped_by=running().stopped_by, seconds=running().seconds)
    if out is not None:
        found.save(out)
    return found
