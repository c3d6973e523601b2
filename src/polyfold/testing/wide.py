"""Reproducible test cases of every kind: up to seven dimensions, four stages and some 300 cells."""

from __future__ import annotations

import numpy as np

from polyfold.testing import domains, edits
from polyfold.testing.cases import Case, case_of, domain_and_changes, some
from polyfold.testing.networks import random_draft
from polyfold.testing.pooling import pooled

_SHARE_OF_DIMENSION = {1: 0.1, 2: 0.22, 3: 0.2, 4: 0.16, 5: 0.12, 6: 0.1, 7: 0.1}
# n hyperplanes in general position cut R^d into sum_{i <= d} C(n, i) parts, and the gates of a random network make
# about as many cells however deep they lie. With these n they stay below 300.
_MOST_GATES = {1: 50, 2: 19, 3: 11, 4: 8, 5: 8, 6: 8, 7: 8}
_DEEPEST = 4


def wide_case(seed: int, *, size: int = 40) -> Case:
    """The network and the domain of a seed, with up to some 300 cells; odd seeds are degenerate.

    These are other cases than those of `generated_case`: more dimensions and stages, pools, more ways to be degenerate.

    Parameters
    ----------
    seed : int
        The same seed gives the same case. Another version of polyfold may give another one.
    size : int
        The most that the input dimension, the depth and every width may be: smaller sizes make simpler cases.

    Returns
    -------
    Case
        A network of up to seven inputs and four stages, and a domain with an interior.

    Examples
    --------
    >>> wide_case(4)
    Case(wide seed 4, size 40: ...)
    """
    rng = np.random.default_rng([seed, size, _DEEPEST])
    degenerate = seed % 2 == 1
    input_dim = min(size, int(rng.choice(list(_SHARE_OF_DIMENSION), p=list(_SHARE_OF_DIMENSION.values()))))
    depth = min(size, int(rng.integers(1, _DEEPEST + 1)))
    # A pool of three needs a stage of its own for the second comparison.
    pools = depth < _DEEPEST and rng.random() < 0.25
    widths = [min(size, width) for width in _widths(rng, _MOST_GATES[input_dim], depth)]
    draft = random_draft(rng, [input_dim, *widths, int(rng.integers(1, 3))])
    changes: list[edits.Edit] = [edits.leaky] if rng.random() < 0.25 else []
    changes += [] if pools else some(rng, (edits.skips, edits.max_gates), at_most=2)
    if degenerate:
        changes += some(rng, edits.DEGENERACIES + edits.MORE_DEGENERACIES, at_least=1, at_most=3)
    kinds = domains.GENERIC + domains.MORE_GENERIC
    if degenerate:
        kinds = domains.DEGENERATE + domains.MORE_DEGENERATE
    make_domain = domain_and_changes(rng, draft, changes, kinds, degenerate=degenerate)
    names = [change.__name__ for change in changes] + ["pooled"] * pools or ["generic"]
    program = pooled(rng, draft) if pools else draft.freeze()
    return case_of(rng, program, make_domain, f"wide seed {seed}, size {size}", [input_dim, *widths], names)


def _widths(rng: np.random.Generator, most_gates: int, depth: int) -> list[int]:
    """Gates for every stage, more of them in front; small totals are rare, because most of them make few cells."""
    gates = int(rng.integers(depth, most_gates + 1, size=4).max())
    shares = np.linspace(2.0, 1.0, depth)
    return [1 + extra for extra in rng.multinomial(gates - depth, shares / shares.sum()).tolist()]
