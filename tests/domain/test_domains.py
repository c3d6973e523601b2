"""Domains: what they resolve to, and what is refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import CORNER
from polyfold.domain.domain import resolve_domain
from polyfold.errors import DomainError


def test_a_box_takes_scalars_vectors_and_missing_bounds():
    assert resolve_domain(pf.box(-1, 1), 3).rows == 6
    half = resolve_domain(pf.box([-1, -np.inf], [np.inf, 2]), 2)
    assert half.input_rows.tolist() == [[-1, 0], [0, 1]]
    assert half.input_offsets.tolist() == [1, 2]
    assert resolve_domain(pf.box(-np.inf, np.inf), 4).rows == 0


def test_a_slice_keeps_rows_where_they_were_written():
    domain = resolve_domain(
        pf.slice_of([0, 0, 1], [[1, 0], [0, 1], [1, 1]], within=pf.box(-1, 1), bounds=pf.box(0, 2)), 3
    )
    assert (domain.input_dim, domain.dim, domain.rows) == (3, 2, 10)
    assert domain.is_slice
    assert domain.lift([[1.0, 2.0]]).tolist() == [[1.0, 2.0, 4.0]]
    assert not domain.basis.flags.writeable
    one = resolve_domain(pf.slice_of([0, 0], [1, 2]), 2)
    assert one.basis.shape == (2, 1)


def test_digests_tell_domains_apart():
    domains = [None, pf.box(-1, 1), pf.box(-1, 2), pf.polytope([[1, 0]], [1]), pf.slice_of([0, 0], [1, 0])]
    assert len({resolve_domain(domain, 2).digest for domain in domains}) == len(domains)
    assert resolve_domain(pf.box(-1, 1), 2).digest == resolve_domain(pf.box([-1, -1], [1, 1]), 2).digest


def test_a_resolved_domain_passes_if_it_fits():
    domain = resolve_domain(pf.box(-1, 1), 2)
    assert len(pf.unfold(CORNER, domain)) == 4
    with pytest.raises(DomainError, match=r"lies in R\^2, the network takes 3 inputs"):
        resolve_domain(domain, 3)


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (pf.box(1, -1), "empty in dimension 0: it goes from 1.0 to -1.0"),
        (pf.box([0, 2], [1, 2]), "flat: lo and hi are the same in dimension 1; as a slice"),
        (pf.box(np.nan, 1), "lo contains NaN"),
        (pf.box(-1, [1, np.nan]), "hi contains NaN"),
        (pf.box(np.inf, np.inf), "empty in dimension 0"),
        (pf.box([1, 2, 3], 4), r"lo has shape \(3,\); in R\^2 it needs \(2,\)"),
        (pf.box("wide", 4), "lo is no array of numbers"),
        (pf.polytope([[1, 0], [-1, 0]], [1, -2]), "is empty"),
        (pf.polytope([[1, 0], [-1, 0]], [1, -1]), "no interior"),
        (pf.polytope([[0, 0]], [-1]), "is empty"),
        (pf.polytope([[1, 0, 0]], [1]), r"shape \(rows, 2\)"),
        (pf.polytope([[1, 0]], [1, 2]), r"these are \(1, 2\) and \(2,\)"),
        (pf.polytope([[1, np.inf]], [1]), "finite numbers"),
        (pf.polytope([[1, 0]], [np.nan]), "finite numbers"),
        (pf.polytope([["a", 0]], [1]), "A is no array of numbers"),
        (pf.polytope([[1, 0]], ["b"]), "b is no array of numbers"),
        (pf.slice_of([0, 0], [[1, 2], [2, 4]]), "2-dimensional slice is flat: its directions span only 1 dimension"),
        (pf.slice_of([0, 0, 0], [1, 0]), r"origin of shape \(2,\)"),
        (pf.slice_of([0, 0], np.zeros((2, 0))), r"\(2, 0\)"),
        (pf.slice_of([0, np.nan], [1, 0]), "finite numbers"),
        (pf.slice_of([0, 0], "x"), "basis is no array of numbers"),
        (pf.slice_of([5, 0], [0, 1], within=pf.box(-1, 1)), "is empty"),
        (pf.slice_of([0, 0], [1, 0], within=pf.slice_of([0, 0], [0, 1])), "within must be pf.box"),
        (pf.slice_of([0, 0], [1, 0], bounds=(-1, 1)), "bounds must be pf.box"),
        ((-1, 1), r"\(-1, 1\) is not a domain"),
        ("box", "'box' is not a domain"),
    ],
)
def test_what_is_no_domain(domain, words):
    with pytest.raises(DomainError, match=words):
        pf.unfold(CORNER, domain)


@pytest.mark.parametrize(
    ("lo", "hi"),
    [([0, 1], [1, 1]), ([0.5, -1, 2], [0.5, 1, 3]), ([-np.inf, 1.5], [np.inf, 1.5]), ([0.0] * 14, [0.0] * 13 + [1.0])],
)
def test_a_flat_box_is_offered_as_the_slice_that_it_is(lo, hi):
    lo, hi = np.asarray(lo, dtype=float), np.asarray(hi, dtype=float)
    with pytest.raises(DomainError, match="the box is flat") as caught:
        pf.box(lo, hi).resolve(len(lo))
    offered = str(caught.value).partition("as a slice it has an inside: ")[2]
    domain = eval(offered, {"pf": pf, "np": np, "lo": lo, "hi": hi}).resolve(len(lo))
    assert domain.dim == (lo < hi).sum()
    # Points of the slice lie in the box, and the middle of the box lies in the slice.
    inside = np.where(np.isfinite(lo), lo, 0.0)
    assert np.array_equal(domain.lift(inside[lo < hi][None])[0], inside)
    assert (domain.parameter_rows @ inside[lo < hi] <= domain.parameter_offsets).all()


def test_a_box_that_is_a_point():
    with pytest.raises(DomainError, match=r"flat.*a single point; pf.local\(network, \[\[0.0, 1.0\]\]\)"):
        pf.box([0, 1], [0, 1]).resolve(2)
