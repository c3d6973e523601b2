"""Atlases, counts and certificates as results: what every answer tells, told of cells."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import LimitError, UnknownError

CORNER = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
BOX = pf.box(-1, 1)


def test_an_atlas_tells_what_every_result_tells() -> None:
    atlas = pf.unfold(CORNER, BOX)
    assert atlas.complete and atlas.stopped_by is None and atlas.seconds == atlas.certificate.seconds > 0
    assert atlas.evidence.level == "checked" and not atlas.proved
    assert atlas.asked is not None and atlas.asked.question == "unfold"
    certified = atlas.with_certificate(pf.certify(atlas))
    assert certified.proved and certified.evidence.word == "proved"
    part = pf.unfold(CORNER, BOX, max_cells=2)
    assert not part.complete and part.stopped_by == "max_cells"


def test_it_is_true_as_long_as_it_has_cells() -> None:
    assert pf.unfold(CORNER) and not pf.explore(CORNER, [0.5, 0.5], max_seconds=1e-9)


def test_json_has_cells_digests_and_the_certificate() -> None:
    atlas = pf.unfold(CORNER, BOX)
    told = json.loads(json.dumps(atlas.to_json()))
    assert (told["kind"], told["cells"], told["complete"]) == ("Atlas", 4, True)
    assert told["network_digest"] == atlas.program.digest and told["domain_digest"] == atlas.domain.digest
    assert told["arrays_digest"] == atlas.arrays_digest
    assert told["certificate"]["level"] == told["evidence"]["level"] == "checked"
    assert [check["name"] for check in told["certificate"]["checks"]] == [c.name for c in atlas.certificate.checks]


def test_its_seal_is_not_lost() -> None:
    atlas = pf.unfold(CORNER, BOX)
    atlas = atlas.with_certificate(pf.certify(atlas))
    changed = replace(atlas, bounded=~atlas.bounded)
    assert not changed.complete and changed.evidence.level == "counted" and not changed.proved
    again = pickle.loads(pickle.dumps(atlas))  # our own
    assert again.proved and again.evidence.level == "certified"
    raised = replace(atlas.certificate, level="certified")
    assert not raised.evidence.proved and raised.verdict == "unknown"


def test_a_certificate_is_a_verdict() -> None:
    atlas = pf.unfold(CORNER, BOX)
    checked = pf.check(atlas)
    assert checked and (checked.verdict, checked.word) == ("yes", "passed")
    assert json.loads(json.dumps(checked.to_json()))["standing"] == "checked"
    wrong = pf.check(replace(atlas, bounded=~atlas.bounded))
    assert not wrong and wrong.word == "failed"


def test_a_check_that_has_no_time_is_unknown() -> None:
    found = pf.check(pf.unfold(CORNER, BOX), max_seconds=1e-9)
    assert found.level == "counted" and found.verdict == "unknown"
    assert [check.detail for check in found.failed_checks] == ["max_seconds=1e-09 was over after 1 check"]
    with pytest.raises(UnknownError):
        bool(found)


def test_certify_and_check_take_a_model() -> None:
    assert pf.certify(CORNER, BOX) and pf.check(CORNER, BOX)


def test_a_count_is_a_number() -> None:
    found = pf.count(CORNER, BOX)
    assert int(found) == float(found) == found.value == np.asarray(found) == 4
    assert found.evidence.level == "checked" and found.complete
    told = json.loads(json.dumps(found.to_json()))
    assert (told["cells"], told["certificate"], told["evidence"]["level"]) == (4, "checked", "checked")


def test_an_atlas_is_a_source() -> None:
    atlas = pf.unfold(CORNER, BOX)
    assert pf.count(atlas).cells == 4 == len(pf.unfold(atlas)) == len(pf.explore(atlas, [0.5, 0.5]))
    assert pf.count(atlas, pf.box(0.5, 1)).cells == 1
    assert pf.local(atlas, [0.5, 0.5]).domain is atlas.domain


def test_a_question_that_has_no_time_to_unfold_says_so() -> None:
    rng = np.random.default_rng(0)
    endless = [(rng.normal(size=(60, 6)), rng.normal(size=60)), (rng.normal(size=(60, 60)), rng.normal(size=60))]
    with pytest.raises(LimitError, match=r"max_seconds=0\.2 did not suffice"):
        pf.stats.lipschitz([*endless, (np.ones((1, 60)), [0.0])], BOX, max_seconds=0.2)


def test_local_maps_are_proved_unless_a_sign_is_undecided() -> None:
    maps = pf.local(CORNER, [[0.5, 0.5]])
    assert maps.proved and maps.evidence.network_digest
    assert not replace(maps, X=maps.X.copy()).proved
    open_ = pf.local(CORNER, [[0.0, 0.0]], settle=False)
    assert sum(map(len, open_.undecided)) == 0 or not open_.proved
    assert json.loads(json.dumps(maps.to_json()))["patterns"] == ["11"]


def test_patterns_have_proofs() -> None:
    cell, none = pf.maps.of_pattern(CORNER, [1, 1]), pf.maps.of_pattern(CORNER, [1, 1], pf.box(-2, -1))
    assert cell.proved and cell and none.proved and not none and none.word == "infeasible"
    stopped = pf.maps.of_pattern(CORNER, [1, 1], max_seconds=1e-9)
    assert stopped.verdict == "unknown" and stopped.stopped_by == "max_seconds" and not stopped.proved
    assert stopped.evidence.word == "computed in floats, not proved" and (stopped.A == cell.A).all()
