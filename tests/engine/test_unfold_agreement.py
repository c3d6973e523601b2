"""The compiled engine against the reference engine on generated networks, half of them degenerate."""

from __future__ import annotations

import pytest

import polyfold as pf
from helpers.agreement import assert_same
from helpers.slow_params import quick_then_slow
from polyfold.testing.cases import generated_case
from polyfold.testing.reference import reference_unfold

BATCH = 25


@pytest.mark.parametrize("batch", quick_then_slow(range(20), quick=6))
def test_generated_networks(batch: int) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        case = generated_case(seed)
        atlas = pf.unfold(case.program, case.domain, threads=1 + seed % 3)
        assert atlas.certificate.level == "checked", case
        assert_same(atlas, reference_unfold(case.program, case.domain))
