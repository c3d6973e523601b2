"""Results that are networks can be given wherever a model can; all of them are plain JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import NetworkError

TWICE = [([[1.0, 0.5], [2.0, 1.0], [0.0, 1.0]], [0.0, 0.0, -0.25]), ([[1.0, 1.0, -1.0]], [0.5])]
SQUARE = pf.box([-1, -1], [1, 1])


@pytest.mark.parametrize(
    "found",
    [
        pf.reduce(TWICE, SQUARE),
        pf.rewrite.irreducible(TWICE, SQUARE),
        pf.rewrite.shallow(TWICE, SQUARE),
        pf.compare.canonical(TWICE, SQUARE),
        pf.compare.canonical(TWICE, SQUARE).shallow(),
    ],
    ids=lambda found: type(found).__name__,
)
def test_a_result_is_a_source(found):
    if isinstance(found, pf.rewrite.Shallow):
        with pytest.raises(pf.PolyfoldError, match="no network to compare"):
            pf.equivalent(TWICE, found, SQUARE)
    else:
        assert pf.equivalent(TWICE, found, SQUARE) and pf.equivalent(found, TWICE, SQUARE)
    cells = pf.unfold(found, SQUARE)
    assert cells.complete and len(cells) <= len(pf.unfold(TWICE, SQUARE))
    assert pf.rewrite.stability(found, SQUARE).complete


def test_a_shallow_network_on_a_slice_is_one_of_its_parameters():
    line = pf.slice_of([0.0, 0.0], [[1.0], [1.0]], bounds=pf.box(-1, 1))
    network = pf.load(pf.rewrite.shallow(TWICE, line))
    assert network.input_dim == 1
    u = np.linspace(-1, 1, 9)[:, None]
    np.testing.assert_allclose(network(u), pf.load(TWICE)(u @ [[1.0, 1.0]]), atol=1e-12)


def test_pieces_that_were_edited_or_given_are_no_source():
    shallow = pf.rewrite.shallow(TWICE, SQUARE)
    edited = pf.rewrite.edit(shallow, region=[0], map=([[0.0, 0.0]], [7.0]))
    with pytest.raises(NetworkError, match="were edited"):
        pf.load(edited)
    again = pf.rewrite.edit(edited, region=[1], freeze=True)
    assert again.network.frozen[1]
    left, right = (([[1.0]], [0.0]), ([[-1.0]], [0.0])), (([[-1.0]], [0.0]), ([[1.0]], [0.0]))
    with pytest.raises(NetworkError, match="were given"):
        pf.load(pf.rewrite.from_pieces([left, right]))


def test_an_atlas_has_its_domain():
    atlas = pf.unfold(TWICE, SQUARE)
    assert pf.reduce(atlas).domain.digest == atlas.domain.digest
    assert pf.equivalent(atlas, TWICE) and pf.rewrite.irreducible(atlas).proved
    with pytest.raises(pf.PolyfoldError, match="domain of its own"):
        pf.rewrite.stability(atlas, pf.box(-2, 2))


def test_all_answers_are_json():
    shallow = pf.rewrite.shallow(TWICE, SQUARE)
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    answers = [
        pf.reduce(TWICE, SQUARE),
        pf.rewrite.stability(TWICE, SQUARE),
        pf.rewrite.irreducible(TWICE),
        pf.rewrite.identifiable(TWICE),
        shallow,
        pf.rewrite.edit(shallow, region=[0], map=([[0.0, 0.0]], [7.0])),
        pf.equivalent(TWICE, TWICE),
        pf.compare.match(TWICE, TWICE),
        pf.compare.canonical(TWICE, SQUARE),
        pf.separation.clustered(X, y),
        pf.separation.sequential(X, y),
        pf.separation.cone(X, y),
        pf.separation.simplex(X, y),
        pf.separation.interpolate(X, y),
        pf.separation.cost_decomposition(TWICE, X, y, targets=[[0.0], [1.0]]),
        pf.separation.cost_bound([(np.eye(2), [0.0, 0.0])], [[1, 0], [3, 0], [-1, 2]], [0, 0, 1]),
    ]
    for answer in answers:
        said = json.loads(json.dumps(answer.to_json(), allow_nan=False))
        assert said["complete"] and said["stopped_by"] is None and said["seconds"] > 0 and said["asked"]["question"]


def test_verdicts_have_the_words_of_their_questions():
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    found = {
        "equal": pf.equivalent(TWICE, TWICE),
        "different": pf.compare.match(TWICE, [TWICE[0], ([[1.0, 1.0, -2.0]], [0.5])]),
        "not identifiable": pf.rewrite.identifiable(TWICE),
        "not clustered": pf.separation.clustered(X, y),
        "not separable": pf.separation.sequential(X, y),
        "separable": pf.separation.cone(X, y),
    }
    for word, answer in found.items():
        assert answer.word == word and answer.proved
        assert bool(answer) == (word in ("equal", "separable")) == (answer.verdict == "yes")


def test_progress_is_told():
    told = []
    pf.rewrite.stability(TWICE, SQUARE, progress=told.append)
    pf.compare.canonical(TWICE, SQUARE, progress=told.append)
    pf.separation.cone([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1], progress=told.append)
    assert {event.what for event in told} >= {"neurons settled", "cells", "pairs of sets tried"}
