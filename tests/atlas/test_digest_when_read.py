"""The digest of an atlas's arrays is worked out when somebody reads it, and says the same as at once."""

from __future__ import annotations

import copy
import gc
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from weakref import ref

import numpy as np
import pytest

import polyfold as pf
from polyfold.atlas import digest
from polyfold.testing import generated_case

LAYERS = [([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]
BOX = pf.box(-1, 3)


@pytest.fixture
def digested(monkeypatch) -> list[str]:
    """All digests that were worked out."""
    made: list[str] = []
    work_out = digest.arrays_digest

    def noted(atlas, threads=1):
        made.append(work_out(atlas, threads))
        return made[-1]

    monkeypatch.setattr(digest, "arrays_digest", noted)
    return made


def test_nobody_who_does_not_read_it_waits_for_it(digested):
    atlas = pf.unfold(LAYERS, BOX)
    top = pf.stats.maximum(atlas)
    said = repr(atlas), repr(atlas.certificate), repr(atlas.evidence), repr(top), repr(pf.regions(atlas))
    assert all("checked" in each for each in said) and atlas.evidence.level == "checked"
    explored, part = pf.explore(LAYERS, [0.5], domain=BOX), pf.unfold(LAYERS, BOX, max_cells=1)
    assert len(pf.resume(part)) == len(explored) == len(atlas)
    del atlas, explored, part
    gc.collect()
    # But what the answer rests on can still be read when the atlas is gone.
    assert len(digested) == 1 and top.evidence.arrays_digest == digested[0]
    assert len(digested) == 1


def test_that_of_the_domain_waits_too():
    for answer in (pf.unfold(LAYERS, pf.box(-1, 3)), pf.count(LAYERS, pf.box(-1, 3))):
        domain = answer.domain
        assert answer.certificate.level == answer.evidence.level == "checked" and "digest" not in domain.__dict__
        assert answer.certificate.domain_digest == answer.evidence.domain_digest == domain.digest
        elsewhere = replace(answer, domain=pf.box(-1, 4).resolve(1))
        assert elsewhere.certificate.level == "counted" and "of domain" in elsewhere.certificate.checks[0].detail
        for name in domain.__dataclass_fields__:
            for each in (domain, copy.deepcopy(domain)):
                with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                    getattr(each, name).setflags(write=True)


def test_it_is_worked_out_once(digested):
    atlas = pf.unfold(LAYERS, BOX)
    text = atlas.arrays_digest
    assert text == atlas.certificate.arrays_digest == atlas.evidence.arrays_digest
    assert text == pf.stats.maximum(atlas).evidence.arrays_digest == atlas.to_json()["arrays_digest"]
    assert atlas.with_certificate(atlas.certificate).arrays_digest == text
    assert digested == [text]


def test_what_outlives_the_atlas_does_not_keep_its_arrays(digested):
    atlas = pf.unfold(LAYERS, BOX)
    certificate, evidence, arrays = atlas.certificate, atlas.evidence, ref(atlas.witnesses)
    del atlas
    gc.collect()
    assert arrays() is None and len(digested) == 1
    assert certificate.arrays_digest == evidence.arrays_digest == digested[0]


def test_nothing_is_digested_when_everything_goes(digested):
    atlas = pf.unfold(LAYERS, BOX)
    arrays = ref(atlas.witnesses)
    del atlas
    assert arrays() is None and not digested


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_digest_that_was_cut_short_is_made_later(monkeypatch):
    atlas = pf.unfold(LAYERS, BOX)
    certificate, text = atlas.certificate, digest.arrays_digest(atlas)

    def no_memory(atlas, threads=1):
        raise MemoryError

    with monkeypatch.context() as short:
        short.setattr(digest, "arrays_digest", no_memory)
        del atlas
    assert certificate.arrays_digest == text


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_carry_it(twin):
    for said in (lambda atlas: atlas.certificate, lambda atlas: atlas.evidence):
        atlas = pf.unfold(LAYERS, BOX)
        assert twin(said(atlas)).arrays_digest == digest.arrays_digest(atlas)
        again = twin(atlas)
        assert again.certificate.level == "checked" and said(again).arrays_digest == digest.arrays_digest(atlas)


def test_edits_and_json_have_it():
    atlas = pf.unfold(LAYERS, BOX)
    text = digest.arrays_digest(atlas)
    assert replace(pf.unfold(LAYERS, BOX).certificate, level="certified").arrays_digest == text
    assert json.loads(json.dumps(pf.stats.maximum(atlas).to_json()))["evidence"]["arrays_digest"] == text
    assert text in repr(atlas.certificate.to_json()) and atlas.evidence == pf.unfold(LAYERS, BOX).evidence


def test_threads_read_the_same():
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            atlas = pf.unfold(LAYERS, BOX)
            text = digest.arrays_digest(atlas)
            readers = [pool.submit(lambda said=said: said.arrays_digest) for said in [atlas, atlas.certificate] * 4]
            assert {reader.result() for reader in readers} == {text}


def test_it_is_that_of_the_arrays_on_all_kinds_of_networks():
    for seed in range(60):
        case = generated_case(seed)
        atlas = pf.unfold(case.program, case.domain)
        assert atlas.certificate.level == "checked", case
        text = atlas.certificate.arrays_digest
        assert text == atlas.arrays_digest == digest.arrays_digest(copy.deepcopy(atlas)), case
        other = replace(atlas, witnesses=np.nextafter(atlas.witnesses, np.inf))
        assert other.certificate.level == "counted", case


def test_exact_witnesses_of_any_length_are_digested():
    atlas = pf.unfold([(np.ones((1, 1)), [0.0]), (np.ones((1, 1)), [0.0])])

    def digest_with(number):
        return replace(atlas, exact_witnesses={0: (number,)}).arrays_digest

    long = Fraction(1, 7**9000)  # Python writes no integer with so many digits
    assert len({digest_with(number) for number in (long, -long, 2 * long, Fraction(1, 7))}) == 4


@pytest.mark.parametrize("number", [Fraction(0), Fraction(-3, 7), Fraction(12), Fraction(1, 3**900)])
def test_exact_witnesses_are_digested_by_the_text_that_python_has_for_them(number):
    assert digest._in_full(number) == str(number)
