"""What every result has, whatever was asked."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pytest

import polyfold as pf
from polyfold._base.clock import running
from polyfold._base.question import question
from polyfold._base.result import Result, Rows, Value, Verdict, answered

HAT = [([[1.0], [1.0]], [0.0, -1.0]), ([[1.0, -2.0]], [0.0])]


@dataclass(frozen=True, eq=False)
class Area(Value, Rows):
    value: float

    def rows(self) -> dict[str, list[float]]:
        return {"area": [self.value]}


@dataclass(frozen=True)
class Fits(Verdict):
    words = ("fits", "does not fit", "nobody knows")
    given: Literal["yes", "no", "unknown"]

    @property
    def verdict(self) -> Literal["yes", "no", "unknown"]:
        return self.given


@question("test.area")
def area(source: object, *, side: float = 1.0, max_seconds: float | None = None) -> Area:
    assert running().max_seconds == max_seconds
    return answered(Area(side * side))


def test_a_number_is_a_number() -> None:
    found = area(None, side=3.0, max_seconds=60)
    assert float(found) == 9.0 and np.asarray(found) == 9.0 and found.to_pandas().area.tolist() == [9.0]
    assert found.complete and found.stopped_by is None and 0 <= found.seconds < 60
    with pytest.raises(pf.errors.UnknownError, match="no yes or no"):
        bool(found)


def test_json_says_what_was_asked() -> None:
    said = json.loads(json.dumps(area(None, side=3.0, max_seconds=60).to_json()))
    assert said["schema"] == "polyfold/1" and said["kind"] == "Area" and said["value"] == 9.0
    assert said["asked"] == {"question": "test.area", "options": {"side": 3.0}, "left_out": []}
    assert said["evidence"]["proved"] is False and said["complete"] is True


@pytest.mark.parametrize("given", ["yes", "no", "unknown"])
def test_verdicts(given: Literal["yes", "no", "unknown"]) -> None:
    found = answered(Fits(given))
    assert found.word == {"yes": "fits", "no": "does not fit", "unknown": "nobody knows"}[given]
    if given == "unknown":
        with pytest.raises(pf.errors.UnknownError, match="neither True nor False"):
            bool(found)
    else:
        assert bool(found) is (given == "yes")
    with pytest.raises(pf.errors.UnknownError):
        bool(replace(found, given="yes"))


def test_what_is_carried_survives_copies_and_not_edits() -> None:
    found = pf.stats.lipschitz(HAT, pf.box(-1, 2))
    assert isinstance(found, Result) and found.evidence.level == "checked" and found.asked is not None
    for again in (copy.copy(found), copy.deepcopy(found)):
        assert again.evidence == found.evidence and again.seconds == found.seconds
    assert pickle.loads(pickle.dumps(found)).value == found.value
    assert replace(found, value=0.0).evidence.nothing and replace(found, value=0.0).asked is None


def test_the_domain_comes_back_out_of_json() -> None:
    found = json.loads(json.dumps(pf.stats.lipschitz(HAT, pf.box(-1, 2)).to_json()))
    domain = pf.Domain.from_json(found["evidence"]["domain"])
    assert pf.stats.lipschitz(HAT, domain).evidence.domain_digest == found["evidence"]["domain_digest"]


def test_long_data_and_results_are_not_written_down_with_the_question() -> None:
    @question("some.question")
    def ask(source: object, X: object, *, maps: object = None, k: object = None) -> Result:
        return answered(Area(1.0))

    asked = ask(None, np.zeros((100, 100)), maps={"a": Area(2.0)}, k=[1, 2]).asked
    assert asked is not None and asked.options == {"k": [1, 2]} and asked.left_out == ("X", "maps")
    short = ask(None, [[1.0, 2.0]]).asked
    assert short is not None and short.options == {"X": [[1.0, 2.0]]}
