"""Hypothesis strategies over the generated cases. Needs Hypothesis, which polyfold itself does not."""

from __future__ import annotations

from hypothesis import strategies as st

from polyfold.testing.cases import Case
from polyfold.testing.wide import wide_case


def cases(*, max_size: int = 8, degenerate: bool | None = None) -> st.SearchStrategy[Case]:
    """Networks on domains, of every kind. Failures shrink to small sizes first, then to small seeds.

    Parameters
    ----------
    max_size : int
        The most that the input dimension, the depth and every width may be.
    degenerate : bool, optional
        Only degenerate cases (True) or only generic ones (False); both if not given.

    Returns
    -------
    hypothesis.strategies.SearchStrategy
        A strategy for `Case`.
    """
    numbers = st.integers(min_value=0, max_value=2**32 - 1)
    seeds = numbers if degenerate is None else numbers.map(lambda number: 2 * number + degenerate)
    return st.builds(
        lambda size, seed: wide_case(seed, size=size),
        st.integers(min_value=1, max_value=max_size),
        seeds,
    )
