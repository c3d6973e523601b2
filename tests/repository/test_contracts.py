"""What all public functions and results have in common, checked on each of them."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable
from typing import Any

import pytest

from helpers.public import public_functions, public_types
from polyfold._base.result import Result, Verdict
from polyfold.atlas.certificate import Certificate

# Functions that make something and return what they make: a closed list. Everything else is a question.
MAKERS = {
    "load",
    "open",
    "box",
    "polytope",
    "slice_of",
    "line",
    "plane",
    "plot",
    "unfold_in_blocks",
    "layers.cone_layer",
    "layers.film_strip",
    "layers.truncation_map",
    "program.lower",
    "rewrite.from_pieces",
    "separation.barycentric",
    "symmetry.compose",
    "symmetry.random_transformation",
    "symmetry.shift_everything",
    "testing.generated_case",
    "testing.program_from_layers",
    "testing.random_program",
    "testing.wide_case",
    "training.open",
    "training.record",
}
# Bundled networks, by whatever names they have.
MAKERS |= {name for name in public_functions() if name.startswith("datasets.")}
MAKERS |= {"testing.reference_unfold"}
QUESTIONS = {name: function for name, function in public_functions().items() if hasattr(function, "question")}
# What a question is asked of: a model or what is made of it, data, maps at inputs, or a recording.
SUBJECTS = {"source", "X", "maps", "recording"}
# What may follow it without its name: the other network, data, maps, and the domain, which comes last.
POSITIONAL = (*SUBJECTS, "other", "y", "pattern", "k", "threshold", "label", "start", "end", "domain")
OTHER_NAMES = {  # what was called otherwise in 0.1, and what it is called
    "network": "source",
    "atlas": "source",
    "network_or_atlas": "source",
    "data": "X",
    "labels": "y",
    "inputs": "feature_names",
    "class_names": "output_names",
    "outputs": "output",
    "p": "norm",
    "rtol": "tolerance",
    "atol": "tolerance",
    "memory": "max_memory",
    "random_state": "seed",
    "n_jobs": "threads",
    "verbose": "progress",
}
DEFAULTS = {"max_seconds": None, "threads": None, "progress": False, "domain": None}


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def test_every_function_is_a_maker_or_a_question() -> None:
    assert set(public_functions()) == MAKERS | QUESTIONS.keys() and not MAKERS & QUESTIONS.keys()


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_knows_its_public_name(name: str) -> None:
    assert QUESTIONS[name].question in (name, f"compare.{name}", f"rewrite.{name}")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", QUESTIONS)
def test_names_order_and_defaults_of_parameters(name: str) -> None:
    given = parameters(QUESTIONS[name])
    assert next(iter(given)) in SUBJECTS
    assert not given.keys() & OTHER_NAMES.keys()
    positional = [each for each, one in given.items() if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert set(positional) <= set(POSITIONAL), "everything else is given by its name"
    assert "domain" not in positional[:-1], "the domain comes last"
    assert {"max_seconds", "progress"} <= given.keys(), "whatever may take long has a limit and can be watched"
    for each, value in DEFAULTS.items():
        assert each not in given or given[each].default is value, f"{each} is {value} unless given"
    if "max_cells" in given:
        default = given["max_cells"].default
        assert default is None or default > 0, "None is no limit; another default is written where users read it"


@pytest.mark.parametrize("name", QUESTIONS)
def test_docstrings_have_their_sections(name: str) -> None:
    text = inspect.getdoc(QUESTIONS[name]) or ""
    for section in ("Parameters", "Returns", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in text, section
    for each in parameters(QUESTIONS[name]):
        assert f"{each} : " in text or f"{each}, " in text or f", {each}" in text, f"{each} is not explained"


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_results(name: str) -> None:
    answer = typing.get_type_hints(inspect.unwrap(QUESTIONS[name]))["return"]
    kinds = typing.get_args(answer) or (answer,)
    assert all(issubclass(kind, Result) for kind in kinds), answer


def results() -> dict[str, type]:
    return {name: kind for name, kind in public_types().items() if issubclass(kind, Result)}


@pytest.mark.parametrize("name", results())
def test_results_are_frozen_and_complete(name: str) -> None:
    kind = results()[name]
    assert dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    held = {each.name for each in dataclasses.fields(kind)}
    assert not held & {"proved", "seconds", "stopped_by", "complete", "evidence", "verdict"} - _told(kind), held
    if not issubclass(kind, Verdict):
        assert kind.__bool__ is Result.__bool__ or "__len__" in vars(kind) or "__bool__" in vars(kind)


def _told(kind: type) -> set[str]:
    """A verdict may be a field: it is the answer. So is what a certificate tells of its atlas, which files hold."""
    of_an_atlas = {"complete", "stopped_by", "seconds"} if kind is Certificate else set()
    return of_an_atlas | ({"verdict"} if issubclass(kind, Verdict) else set())
