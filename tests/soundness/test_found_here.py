"""What is called proved was proved here, of this very object: not in another process, and not edited since."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import is_dataclass, replace

import numpy as np
import pytest

import polyfold as pf
from helpers.confirming import confirmed
from polyfold.program.lower.lower import lower

ABSOLUTE = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
ANOTHER = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 2.0]], [0.0])]
BOX = pf.box(-1, 3)
CONVOLUTION = """
import torch
def convolution():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                               torch.nn.Linear(18, 1))
"""

# Run by another process, which sends what it found through a pickle.
ELSEWHERE = """
import pickle, sys, polyfold as pf
absolute = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
another = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 2.0]], [0.0])]
box = pf.box(-1, 3)
atlas = pf.unfold(absolute, box)
atlas = atlas.with_certificate(pf.certify(atlas))
apart = [[0.0, 0.0], [1.0, 0.0], [9.0, 9.0], [9.0, 8.0]], [0, 0, 1, 1]
found = {
    "atlas": atlas,
    "certificate": atlas.certificate,
    "evidence": pf.regions(atlas).evidence,
    "maximum": pf.stats.maximum(atlas),
    "regions": pf.regions(atlas),
    "path": pf.graph.path(absolute, [-0.5], [1.0], domain=box),
    "count": pf.count(absolute, box),
    "equal": pf.equivalent(absolute, absolute, box),
    "different": pf.equivalent(absolute, another, box),
    "match": pf.compare.match(absolute, absolute),
    "reduction": pf.reduce(absolute, pf.box(1, 2)),
    "stability": pf.rewrite.stability(absolute, pf.box(1, 2)),
    "truncation": pf.layers.truncation([([[1.0, 1.0], [1.0, -1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]),
    "identifiable": pf.rewrite.identifiable(absolute),
    "separable": pf.separation.cone(*apart),
    "in order": pf.separation.sequential(*apart),
    "clustered": pf.separation.clustered(*apart),
}
with open(sys.argv[1], "wb") as file:
    pickle.dump({name: repr(result) for name, result in found.items()}, file)
    pickle.dump(found, file)
"""


@pytest.fixture(scope="module")
def sent(tmp_path_factory) -> tuple[dict[str, str], dict[str, object]]:
    path = tmp_path_factory.mktemp("sent") / "found.pickle"
    subprocess.run([sys.executable, "-c", ELSEWHERE, str(path)], check=True)
    with path.open("rb") as file:
        return pickle.load(file), pickle.load(file)


@pytest.fixture(scope="module")
def atlas() -> pf.Atlas:
    found = pf.unfold(ABSOLUTE, BOX)
    return found.with_certificate(pf.certify(found))


# -- another process


def test_a_certified_atlas_of_another_process_is_a_record(sent):
    said, found = sent
    atlas = found["atlas"]
    assert "; certified, complete" in said["atlas"]
    assert "certified as recorded in another process, complete" in repr(atlas)
    assert atlas.certificate.level == "certified" and atlas.certificate.recorded
    top = pf.stats.maximum(atlas)
    assert not top.proved and "certified as recorded in another process" in repr(top)
    with pytest.raises(pf.errors.UnknownError):
        bool(atlas.certificate)
    # Checks do not find missing cells: that there are none is still what the other process says.
    checked = pf.check(atlas)
    assert checked.level == "checked" and "as recorded in another process" in str(checked)
    assert not pf.stats.maximum(atlas.with_certificate(checked)).proved
    proved = atlas.with_certificate(pf.certify(atlas))
    assert pf.stats.maximum(proved).proved and "; certified, complete" in repr(proved)


def test_a_record_of_another_process_goes_through_a_file(sent, tmp_path):
    sent[1]["atlas"].save(tmp_path / "atlas.parquet")
    assert "certified as recorded in the file" in repr(pf.open(tmp_path / "atlas.parquet"))


@pytest.mark.parametrize("name", ["certificate", "evidence", "maximum", "regions", "path", "count", "equal",
                                  "different", "match", "reduction", "truncation"])  # fmt: skip
def test_results_of_another_process_are_records(sent, name):
    said, found = sent
    result = found[name]
    was, now = said[name], repr(result)
    assert name in ("certificate", "evidence", "regions", "count", "path") or "proved" in was
    assert "recorded in another process" in now and ", proved" not in now and "(proved)" not in now
    assert not getattr(result, "proved", False)
    assert not hasattr(result, "evidence") or result.evidence is None or not result.evidence.proved


@pytest.mark.parametrize("name", ["certificate", "equal", "different", "match", "identifiable", "separable",
                                  "in order", "clustered"])  # fmt: skip
def test_answers_of_another_process_are_not_known_here(sent, name):
    with pytest.raises(pf.errors.UnknownError, match="in another process"):
        bool(sent[1][name])


def test_a_truncation_of_another_process_proves_nothing_but_computes_the_same(sent):
    found = sent[1]["truncation"]
    X = np.array([[1.0, 0.5], [1.0, -3.0], [-2.0, 1.0]])
    assert not any(found.check(X).proved) and not found.holds
    np.testing.assert_allclose(found.outputs(X), [[2.0], [4.0], [0.0]], atol=1e-12)


def test_a_fork_is_another_process(atlas):
    """What a child was born with it has not found out, and its parent does not take its word for anything."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            again = pf.unfold(ABSOLUTE, BOX)
            again = again.with_certificate(pf.certify(again))
            text = pickle.dumps((repr(atlas), repr(again), pf.stats.maximum(again).proved, again))
            os.write(writer, text)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        inherited, own, proved, again = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    assert "as recorded in another process" in inherited
    assert "certified, complete" in own and proved
    assert "as recorded in another process" in repr(again) and not pf.stats.maximum(again).proved


# -- copies


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_an_unchanged_atlas_are_certified(atlas, twin):
    again = twin(atlas)
    assert again.certificate.level == "certified" and pf.stats.maximum(again).proved
    assert again.program.digest == atlas.program.digest and again.arrays_digest == atlas.arrays_digest


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_arrays_that_were_forced_to_change_are_not(twin):
    changed = pf.unfold(ABSOLUTE, BOX)
    changed = changed.with_certificate(pf.certify(changed))
    # Not by its name, which numpy refuses: by way of the memory behind it.
    behind = changed.bounded.base.obj
    behind.setflags(write=True)
    behind[0] = False
    again = twin(changed)
    assert again.certificate.level == "counted" and not again.complete and not again.certificate


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_cannot_be_written_to(atlas, twin):
    again = twin(atlas)
    writeable = [array for array in arrays_of(again) if array.flags.writeable]
    assert not writeable
    with pytest.raises(ValueError, match="read-only"):
        again.program.stages[0].affine.bias[0] = 7.0
    with pytest.raises(ValueError, match="read-only"):
        again.domain.input_offsets[0] = 7.0


def test_copies_of_structured_programs_cannot_be_written_to():
    pytest.importorskip("torch")
    there: dict[str, object] = {}
    exec(CONVOLUTION, there)
    program = lower(pf.load(there["convolution"](), input_shape=(1, 3, 3)))
    assert len(program.stages)
    again = copy.deepcopy(program)
    assert again.digest == program.digest and not [one for one in arrays_of(again) if one.flags.writeable]
    X = np.random.default_rng(0).normal(size=(3, 9))
    np.testing.assert_array_equal(again.evaluate(X)[0], program.evaluate(X)[0])


def arrays_of(thing: object) -> list[np.ndarray]:
    """All arrays in the fields of a dataclass and of those that it holds."""
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, tuple):
        return [array for each in thing for array in arrays_of(each)]
    if is_dataclass(thing):
        return [array for each in thing.__dataclass_fields__ for array in arrays_of(getattr(thing, each))]
    return [thing.data] if hasattr(thing, "indptr") else []


# -- what was edited


def test_an_edited_answer_has_no_evidence(atlas):
    point, graph = np.array([[1.0]]), pf.graph.dual(atlas)
    edited = [
        replace(pf.stats.maximum(atlas), value=7.0),
        replace(pf.stats.lipschitz(atlas), value=0.5),
        replace(pf.regions(atlas), label=np.zeros(len(atlas), dtype=np.int64)),
        replace(graph, edges=graph.edges[:0]),
        replace(pf.graph.diameter(graph), lower=0, upper=0),
        replace(pf.graph.path(atlas, 0, 1), lower=5),
        replace(pf.stats.boxes(atlas), lo=np.zeros((len(atlas), 1))),
        replace(pf.compare.canonical(atlas), jumps=()),
        replace(pf.rewrite.shallow(atlas), beta=np.zeros((len(atlas), 1))),
        replace(pf.summarise(atlas, point), counts=np.array([9])),
        replace(pf.stats.class_areas(atlas), areas=np.array([0.0, 9.0])),
        replace(pf.stats.classes(atlas), label=np.zeros(len(pf.stats.classes(atlas).label), dtype=np.int64)),
        replace(pf.stats.decision_boundary(atlas), pair=np.zeros((0, 2), dtype=np.int64)),
        replace(pf.stats.nearest_change(atlas, point), distance=np.zeros(1)),
        replace(pf.topology.faces(atlas), points=np.zeros((0, 1))),
    ]
    for answer in edited:
        assert answer.evidence.nothing and not answer.evidence.proved, type(answer)
        assert not getattr(answer, "proved", False)
        assert "proved" not in repr(answer) and "certified" not in repr(answer)


def test_what_is_asked_of_edited_answers_is_not_proved_either(atlas):
    forged = replace(pf.regions(atlas), label=np.zeros(len(atlas), dtype=np.int64))
    for answer in (
        pf.graph.dual(forged),
        pf.graph.diameter(forged),
        pf.stats.boxes(forged),
        pf.summarise(forged, [[1.0]]),
    ):
        assert answer.evidence.nothing
    labels = np.zeros_like(pf.stats.classes(atlas).label)
    assert pf.stats.class_areas(replace(pf.stats.classes(atlas), label=labels)).evidence.nothing


def test_evidence_and_certificates_that_were_edited(atlas):
    checked = pf.unfold(ABSOLUTE, BOX)
    raised = replace(pf.regions(checked).evidence, level="certified")
    assert not raised.proved and not raised.to_json()["proved"] and "as recorded by hand" in str(raised)
    certificate = replace(checked.certificate, level="certified")
    assert "certified as recorded by hand" in str(certificate)
    with pytest.raises(pf.errors.UnknownError):
        bool(certificate)
    assert checked.with_certificate(certificate).certificate.level == "counted"


def test_a_count_that_was_edited(atlas):
    count = pf.count(ABSOLUTE, BOX)
    assert count.certificate.level == "checked" and count.certificate
    more = replace(count, cells=7)
    assert more.certificate.level == "counted" and not more.complete and "checked, complete" not in repr(more)
    elsewhere = replace(count, domain=pf.count(ABSOLUTE, pf.box(-2, 3)).domain)
    assert elsewhere.certificate.level == "counted"
    assert replace(count, certificate=replace(count.certificate, level="certified")).certificate.level == "counted"
    assert pickle.loads(pickle.dumps(count)).certificate


def test_verdicts_that_were_edited():
    different = pf.equivalent(ABSOLUTE, ANOTHER, BOX)
    assert different.proved and not different
    forged = replace(different, said="equal")
    assert "EQUAL as recorded by hand" in repr(forged) and not forged.proved and not forged.to_json()["proved"]
    matched = replace(pf.compare.match(ABSOLUTE, ANOTHER), found="equal")
    assert "proved" not in repr(matched)
    for answer in (forged, matched, replace(pf.rewrite.identifiable(ABSOLUTE), verdict="yes")):
        with pytest.raises(pf.errors.UnknownError, match="by hand"):
            bool(answer)


def test_reductions_that_were_edited():
    found = pf.reduce(ABSOLUTE, pf.box(1, 2))
    assert found.proved and "proved" in repr(found) and found.to_json()["proved"]
    forged = replace(found, before=pf.load(ANOTHER), domain=pf.reduce(ABSOLUTE, pf.box(-2, -1)).domain)
    assert not forged.proved and "proved" not in repr(forged) and not forged.to_json()["proved"]
    assert not confirmed(forged)
    assert confirmed(found)


def test_a_reduction_does_not_rest_on_edited_claims():
    """|x| on (-1, 2) switches; who types in that it does not gets no proof of relu(x) = |x|."""
    claims = pf.rewrite.stability(ABSOLUTE, pf.box(-1, 2))
    assert claims.behaviour == ("switches", "switches")
    with pytest.raises(pf.PolyfoldError, match="by hand"):
        pf.reduce(ABSOLUTE, pf.box(-1, 2), stability=replace(claims, behaviour=("on", "off"), proof=("x", "y")))


def test_a_reduction_does_not_rest_on_claims_of_another_process(sent):
    with pytest.raises(pf.PolyfoldError, match="in another process"):
        pf.reduce(ABSOLUTE, pf.box(1, 2), stability=sent[1]["stability"])


def test_truncations_that_were_edited():
    widening = [([[1.0], [2.0]], [1.0, -1.0]), ([[1.0, 1.0]], [0.0])]
    found = pf.layers.truncation(widening)
    assert not found.holds
    forged = replace(found, surjective=(True,))
    assert not forged.holds and "proved" not in repr(forged) and not any(forged.check([[0.3]]).proved)
