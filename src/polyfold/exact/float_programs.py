"""Linear programs in floats, within the time that is left. Nothing that they say counts until it is checked exactly."""

from __future__ import annotations

from typing import Any

from polyfold._base.apart import apart
from polyfold._base.clock import running, tick


def linear_program(objective: Any, **rows: Any) -> Any:
    """SciPy's `linprog` by HiGHS: the least objective . x, with its `status`, `x` and marginals.

    >>> linear_program([1.0], bounds=[(2, 3)]).x.tolist()
    [2.0]
    """
    # Imported here because SciPy takes longer to import than all of polyfold.
    from scipy.optimize import linprog

    options = highs_options()
    found = apart(lambda: linprog(objective, method="highs", options=options, **rows))
    tick()
    return found


def highs_options() -> dict[str, float]:
    """The time that is left, as HiGHS takes it."""
    limit = running().limit
    return {} if limit is None else {"time_limit": limit}
