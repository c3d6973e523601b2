"""path: a shortest way between two cells or points, with the gates crossed."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from polyfold._base.clock import Clock, check_seconds
from polyfold._base.options import whole_number
from polyfold._base.progress import reporter
from polyfold.atlas.atlas import Atlas
from polyfold.atlas.regions import Regions
from polyfold.domain.domain import DomainLike, resolve_domain
from polyfold.engine.cells.at_point import CellAt
from polyfold.engine.cells.facets import Cells, Witness
from polyfold.engine.cells.frontier import Found
from polyfold.engine.cells.validity import ROWS_MEMORY, check_rows_fit
from polyfold.engine.run import watched
from polyfold.errors import LimitError, PolyfoldError, how_many
from polyfold.graph.dual import DualGraph
from polyfold.graph.dual import dual as dual_graph
from polyfold.graph.neighbourhood import Neighbourhood
from polyfold.graph.route import Route, shortest_route
from polyfold.graph.search import RouteSearch
from polyfold.network.load import load
from polyfold.program.lower.lower import lower
from polyfold.program.program import Program


def path(
    where: Any,
    a: Any,
    b: Any,
    *,
    domain: DomainLike = None,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    progress: bool | Callable[[int], None] = False,
) -> Route:
    """A shortest way from a to b across facets, with the gates crossed in order.

    In a complete atlas, or any graph or regions, it is found there. In an incomplete atlas, and for a network without
    one, cells are looked at on the fly: first towards b, which gives some way, then as many as it takes to prove that
    none is shorter. If a limit or Ctrl-C comes first, `Route.lower` says how much shorter a way might be.

    Parameters
    ----------
    where: an atlas, `pf.regions(atlas)`, `pf.graph.dual(...)`, or anything that `pf.load` takes.
    a, b: numbers of cells (regions), or points of the domain's parameters. A point on a wall stands for one of the
        cells that touch it. A network without an atlas takes points only.
    domain: for a network: None for all of R^d, or `pf.box`, `pf.polytope`, `pf.slice_of`.
    max_cells, max_seconds: how many cells a search may look at, and how long; a LimitError says so if no way was found
        by then.
    progress: True for a line on standard error, or a function that is called with the number of cells looked at.

    >>> import numpy as np, polyfold as pf
    >>> corner = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    >>> found = pf.graph.path(corner, [1.0, 1.0], [-1.0, -2.0])
    >>> found, len(found.gates)
    (Route: 2 facets crossed; shortest, 2)
    """
    check_seconds(max_seconds)
    limit = None if max_cells is None else whole_number("max_cells", max_cells, np.iinfo(np.int32).max)
    if isinstance(where, Atlas | Regions | DualGraph) and domain is not None:
        raise PolyfoldError("a domain is given with a network only: an atlas has its own")
    if isinstance(where, Atlas) and not where.complete:
        return _searched(where.program, where.domain, where, (a, b), limit, max_seconds, progress)
    if isinstance(where, Atlas | Regions | DualGraph):
        graph = where if isinstance(where, DualGraph) else dual_graph(where)
        return shortest_route(graph, _node(graph, a), _node(graph, b))
    program = where if isinstance(where, Program) else lower(load(where))
    return _searched(program, resolve_domain(domain, program.input_dim), None, (a, b), limit, max_seconds, progress)


def _is_number(place: Any) -> bool:
    return isinstance(place, Integral) and not isinstance(place, bool)


def _node(graph: DualGraph, place: Any) -> int:
    return graph.node(place) if _is_number(place) else int(graph.locate(np.atleast_2d(place))[0])


def _searched(
    program: Program,
    domain: Any,
    atlas: Atlas | None,
    ends: tuple[Any, Any],
    limit: int | None,
    max_seconds: float | None,
    progress: bool | Callable[[int], None],
) -> Route:
    check_rows_fit(program, domain, ROWS_MEMORY)
    cells = Cells(program, domain)
    locate = CellAt(cells)
    if atlas is None and any(map(_is_number, ends)):
        raise PolyfoldError(
            f"a={ends[0]!r}, b={ends[1]!r}: cells have numbers in an atlas only. Give points, or pf.unfold(network)"
        )
    named = [(name, end if _is_number(end) else locate.point(name, end)) for name, end in zip("ab", ends, strict=True)]

    def start(name: str, end: Any) -> Found:
        if atlas is None or not _is_number(end):
            return locate(name, end)
        cell = atlas.ids([end])[0]
        exact = atlas.rational_witness(int(cell)) if int(cell) in atlas.exact_witnesses else None
        return Found(atlas.signs([cell])[0], Witness(atlas.witnesses[cell], exact))

    first, last = (start(name, end) for name, end in named)
    search = RouteSearch(Neighbourhood(cells, atlas), first, last, limit)
    with reporter(progress, "cells looked at") as report, Clock(max_seconds, lambda event: report(event.done)):
        watch = watched(search.run, domain)
    found = search.route(watch.seconds, watch.stopped_by)
    if found is None:
        raise LimitError(
            f"no way from a to b was found before {search.stopped_by or watch.stopped_by} stopped the search at "
            f"{how_many(search.looked_at, 'cell')}; any way crosses at least {how_many(search.lower, 'facet')}"
        )
    return found
