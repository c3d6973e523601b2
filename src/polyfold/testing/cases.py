"""Reproducible test cases: a small network on a domain for every seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from polyfold.domain.domain import Domain, resolve_domain
from polyfold.program.program import Program
from polyfold.testing import domains, edits
from polyfold.testing.networks import Draft, random_draft

# The widest stages for each input dimension: together they keep a case at some tens of cells.
_WIDEST = {1: (8, 6, 4), 2: (8, 5, 3), 3: (6, 4, 3), 4: (5, 3, 1), 5: (5, 2, 1)}
_T = TypeVar("_T")


@dataclass(frozen=True)
class Case:
    """A network and a domain to test with.

    Attributes
    ----------
    program : Program
        The network; questions take it as their source.
    domain : Domain
        Where to look.
    description : str
        How both came about: the seed, the widths, what is degenerate.
    """

    program: Program
    domain: Domain
    description: str

    def __repr__(self) -> str:
        return f"Case({self.description})"


def generated_case(seed: int, *, size: int = 8) -> Case:
    """The network and the domain of a seed, with some tens of cells; odd seeds are degenerate.

    Parameters
    ----------
    seed : int
        The same seed gives the same case. Another version of polyfold may give another one.
    size : int
        The most that the input dimension, the depth and every width may be: smaller sizes make simpler cases.

    Returns
    -------
    Case
        A network of up to five inputs and three stages, and a domain with an interior.

    Examples
    --------
    >>> generated_case(4)
    Case(seed 4, size 8: ...)
    """
    rng = np.random.default_rng([seed, size])
    degenerate = seed % 2 == 1
    input_dim = min(size, int(rng.choice([1, 2, 3, 4, 5], p=[0.15, 0.35, 0.25, 0.15, 0.1])))
    depth = min(size, int(rng.integers(1, 4)))
    widths = [min(size, int(rng.integers(1, widest + 1, size=2).max())) for widest in _WIDEST[input_dim][:depth]]
    draft = random_draft(rng, [input_dim, *widths, int(rng.integers(1, 3))])
    changes = some(rng, edits.STRUCTURE, at_most=1)
    if degenerate:
        changes += some(rng, edits.DEGENERACIES, at_least=1, at_most=3)
    kinds = domains.DEGENERATE if degenerate else domains.GENERIC
    make_domain = domain_and_changes(rng, draft, changes, kinds, degenerate=degenerate)
    names = [change.__name__ for change in changes] or ["generic"]
    return case_of(rng, draft.freeze(), make_domain, f"seed {seed}, size {size}", [input_dim, *widths], names)


def domain_and_changes(
    rng: np.random.Generator,
    draft: Draft,
    changes: list[edits.Edit],
    kinds: tuple[domains.DomainMaker, ...],
    *,
    degenerate: bool,
) -> domains.DomainMaker:
    """Change a draft, and choose the maker of a domain; what is degenerate on that one may be one change more."""
    make_domain = some(rng, kinds, at_least=1, at_most=1)[0]
    if degenerate and make_domain is domains.unit_box:
        changes.append(edits.along_the_unit_box)
    for change in changes:
        change(rng, draft)
    return make_domain


def case_of(
    rng: np.random.Generator,
    program: Program,
    make_domain: domains.DomainMaker,
    which: str,
    widths: list[int],
    names: list[str],
) -> Case:
    """A program on its domain, with its seed, its widths and what was done to it in words."""
    words = f"{which}: {'-'.join(map(str, widths))}, {' + '.join(names)}, on {make_domain.__name__}"
    return Case(program, resolve_domain(make_domain(rng, widths[0]), widths[0]), words)


def some(rng: np.random.Generator, choices: tuple[_T, ...], *, at_least: int = 0, at_most: int) -> list[_T]:
    """A few of the choices, each at most once."""
    count = int(rng.integers(at_least, at_most + 1))
    return [choices[i] for i in rng.permutation(len(choices))[:count].tolist()]
