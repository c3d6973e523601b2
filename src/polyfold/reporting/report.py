"""pf.report: everything that is worth knowing about one network, as one page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from polyfold._base.files import atomically
from polyfold._base.options import whole_number
from polyfold.domain.domain import DomainLike
from polyfold.errors import StorageError
from polyfold.reporting.collect.everything import collect
from polyfold.reporting.found import Found
from polyfold.reporting.page import page
from polyfold.reporting.sections import closing, data, opening, pictures, pieces, single, statistics
from polyfold.reporting.subject import Subject, subject

SECONDS = 120.0
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
class Report:
    """A report: what was found, and the page that says it."""

    found: Found

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


def report(
    network: Any,
    domain: DomainLike = None,
    data: Any = None,
    labels: Any = None,
    *,
    path: str | PathLike[str] | None = None,
    name: str | None = None,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[str] | None = None,
    image_shape: Sequence[int] | None = None,
    max_cells: int | None = None,
    max_seconds: float | None = SECONDS,
    threads: int | None = None,
    progress: bool | Callable[[str], None] = False,
) -> Report:
    """A page about one network that opens without a connection: counts with proofs, formulas, statistics, pictures.

    What does not fit into the time, or cannot be asked of this network, is left out, and the page says so.

    Parameters
    ----------
    network: anything that `pf.load` takes.
    domain: `pf.box` or `pf.polytope`. Without one it is a box around the data, and without data all of R^d.
    data: inputs (n, d), as an array or a data frame, whose columns then name the features.
    labels: one a row: names or numbers of classes; of a network with one output, what it should have said.
    path: a file to write the page to.
    name: what the network is called in the page.
    class_names: one an output; of a network with one output two names, first that of outputs up to 0.
    image_shape: (rows, columns), or with channels in front, if inputs are pictures and the network does not say so.
    max_cells, max_seconds: for the search for cells, and for everything. None for no limit on the time.
    progress: True for a line on standard error, or a function that is called with what is being done.

    >>> import polyfold as pf
    >>> hat = [([[1.0], [1.0], [1.0]], [0.0, -1.0, -2.0]), ([[1.0, -2.0, 1.0]], [0.0])]
    >>> found = pf.report(hat, pf.box(-1, 3), feature_names=["time"])
    >>> "<h1>Report on a network from arrays</h1>" in found.html
    True
    """
    about = subject(
        network,
        domain,
        data,
        labels,
        name=name,
        feature_names=feature_names,
        class_names=class_names,
        image_shape=image_shape,
    )
    return report_on(about, path=path, max_cells=max_cells, max_seconds=max_seconds, threads=threads, progress=progress)


def report_on(
    about: Subject,
    *,
    path: str | PathLike[str] | None = None,
    max_cells: int | None = None,
    max_seconds: float | None = SECONDS,
    threads: int | None = None,
    progress: bool | Callable[[str], None] = False,
) -> Report:
    """The same for a subject that has been looked over."""
    if max_cells is not None:
        whole_number("max_cells", max_cells, 1 << 31)
    if callable(progress):
        tell: Callable[[str], None] = progress
    else:
        tell = _line if progress else _nothing
    found = Report(collect(about, max_cells=max_cells, max_seconds=max_seconds, threads=threads, tell=tell))
    if path is not None:
        tell("the page")
        found.save(path)
    if progress and tell is _line:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return found


def _line(what: str) -> None:
    print(f"\r\033[Kreport: {what}", end="", file=sys.stderr, flush=True)


def _nothing(what: str) -> None:
    pass
