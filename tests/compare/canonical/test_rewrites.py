"""The same function has one canonical form, whatever network computes it; another function has another one."""

from __future__ import annotations

from itertools import count, product

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

import polyfold as pf
from helpers.same_function import REWRITES, draft_of, rewritten
from helpers.slow_params import quick_then_slow
from polyfold.domain.domain import resolve_domain
from polyfold.domain.points import exact_lift
from polyfold.program.passes.rationals import RationalProgram
from polyfold.testing import domains, edits
from polyfold.testing.networks import random_draft

BATCHES = 8
WIDTHS = {1: [5, 4], 2: [5, 3], 3: [4, 2], 4: [4]}


def base(seed):
    """A small network on a domain: one to four inputs, one to three outputs; odd ones are degenerate."""
    rng = np.random.default_rng([seed, 11])
    dim = int(rng.choice([1, 2, 3, 4], p=[0.25, 0.4, 0.25, 0.1]))
    widths = WIDTHS[dim][: int(rng.integers(1, 3))]
    draft = random_draft(rng, [dim, *widths, int(rng.integers(1, 4))])
    changes = [edits.STRUCTURE[rng.integers(3)]] if rng.random() < 0.3 else []
    if seed % 2:
        changes += [edits.DEGENERACIES[i] for i in rng.permutation(len(edits.DEGENERACIES))[:2]]
    for change in changes:
        change(rng, draft)
    makers = domains.DEGENERATE if seed % 2 else domains.GENERIC
    domain = resolve_domain(makers[rng.integers(len(makers))](rng, dim), dim)
    return draft.freeze(), domain, f"seed {seed}: {dim}-{widths}, {[change.__name__ for change in changes]}"


@pytest.mark.parametrize("batch", quick_then_slow(range(BATCHES), quick=3))
def test_rewritten_networks_have_the_same_digest(batch):
    for seed in range(batch, 200, BATCHES):
        rng = np.random.default_rng([seed, 12])
        program, domain, what = base(seed)
        other, how = rewritten(rng, program, int(rng.integers(1, 5)))
        here, there = pf.compare.canonical(program, domain), pf.compare.canonical(other, domain)
        assert here.digest == there.digest, (what, how)
        assert here == there and hash(here) == hash(there), (what, how)


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.__name__)
def test_each_way_to_rewrite_changes_the_network(rewrite):
    program, domain, _ = base(0)
    draft = draft_of(program)
    rewrite(np.random.default_rng(3), draft)
    assert draft.freeze().digest != program.digest
    assert pf.compare.canonical(draft.freeze(), domain) == pf.compare.canonical(program, domain)


@pytest.mark.parametrize("batch", quick_then_slow(range(BATCHES), quick=3))
def test_a_weight_changed_by_one_unit_in_the_last_place(batch):
    """Exact values at points decide, apart from the form, whether the function is another one."""
    different = same = 0
    for seed in count(batch, BATCHES):
        program, domain, what = base(seed)
        changed = nudged(np.random.default_rng([seed, 13]), program)
        atlases = [pf.unfold(program, domain), pf.unfold(changed, domain)]
        here, there = (pf.compare.canonical(atlas) for atlas in atlases)
        if differ(program, changed, domain, atlases):
            assert here.digest != there.digest and here != there, what
            different += 1
        else:
            assert here.digest == there.digest and here == there, what
            same += 1
        if different == 200 // BATCHES:
            break
    assert same < different


def nudged(rng, program):
    """One weight or bias is the next float, up or down."""
    draft = draft_of(program)
    affine = draft.affines[rng.integers(len(draft.affines))]
    arrays = [*affine.weights.values(), affine.bias]
    array = arrays[rng.integers(len(arrays))].reshape(-1)
    entry = rng.integers(array.size)
    array[entry] = np.nextafter(array[entry], rng.choice([-np.inf, np.inf]))
    assert draft.freeze().digest != program.digest
    return draft.freeze()


def differ(program, other, domain, atlases):
    """Whether exact values differ at witnesses of cells, or at points between them."""
    rng = np.random.default_rng(5)
    witnesses = [atlas.rational_witness(cell) for atlas in atlases for cell in range(len(atlas))]
    here, there = RationalProgram(program), RationalProgram(other)
    for turn, witness in product(range(4), witnesses):
        # In the first turn the witnesses themselves: a small cell may have no other point here.
        near, weight = witnesses[rng.integers(len(witnesses))], fmpq(int(rng.integers(0, 64)) if turn else 0, 64)
        point = [a + weight * (b - a) for a, b in zip(witness, near, strict=True)]
        # One column a call: further ones would be directions.
        inputs = exact_lift(domain, fmpq_mat(len(point), 1, point))
        if here.forward(inputs).outputs != there.forward(inputs).outputs:
            return True
    return False
