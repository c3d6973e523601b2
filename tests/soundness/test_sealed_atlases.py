"""A certificate belongs to its arrays, and no answer is surer than the atlas that it was read off."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import polyfold as pf
from compare.equivalence.test_rounded import two_linear_layers
from helpers.forged_atlases import FORGERIES, keeping_cells
from helpers.shared_files import MODELS
from polyfold.atlas.certificate import OF_THESE_ARRAYS
from polyfold.program.lower.lower import lower
from polyfold.testing import generated_case

ARRAYS = ("patterns", "witnesses", "bounded", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall")
ACAS = MODELS / "acasxu_1_1.onnx"


def random_network(seed: int, *widths: int):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=(b, a)), rng.normal(size=b)) for a, b in pairwise(widths)]


@pytest.fixture(scope="module")
def atlas() -> pf.Atlas:
    found = pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 2))
    return found.with_certificate(pf.certify(found))


def edited(atlas: pf.Atlas, name: str, rng: np.random.Generator) -> pf.Atlas:
    """One number of one array changed by as little as its type allows, where that leaves an atlas at all."""
    array = getattr(atlas, name).copy()
    at = tuple(rng.integers(0, size) for size in array.shape)
    if array.dtype == bool:
        array[at] = not array[at]
    elif array.dtype.kind == "f":
        array[at] = np.nextafter(array[at], np.inf)
    else:
        array[at] += 1 if array[at] < np.iinfo(array.dtype).max else -1
    return replace(atlas, **{name: array})


def is_not_believed(atlas: pf.Atlas) -> bool:
    said = atlas.certificate
    return said.level == "counted" and not said.complete and [c.name for c in said.failed_checks] == [OF_THESE_ARRAYS]


# -- what changes loses its level


def test_the_smallest_edits_are_found(atlas):
    rng = np.random.default_rng(0)
    edits = 0
    for name in ("patterns", "witnesses", "bounded", "facet_wall", "neighbour"):
        for _ in range(8):
            other = edited(atlas, name, rng)
            edits += 1
            assert is_not_believed(other), name
            checked = pf.check(other)
            assert checked.level == "counted" and OF_THESE_ARRAYS in [c.name for c in checked.failed_checks], name
    assert edits == 40


def test_a_flipped_flag_of_boundedness_is_not_certified():
    for seed, domain in ((0, None), (1, None), (2, pf.box(-1, 1)), (3, pf.polytope([[1.0, 0.0], [0.0, -1.0]], [1, 1]))):
        atlas = pf.unfold(random_network(seed, 2, 5, 3, 1), domain)
        assert pf.certify(atlas)
        for cell in range(len(atlas)):
            flags = atlas.bounded.copy()
            flags[cell] ^= True
            found = pf.certify(replace(atlas, bounded=flags))
            assert found.level == "counted" and f"cell {cell} is" in found.failed_checks[-1].detail


def test_flags_of_boundedness_are_proved_of_degenerate_networks():
    """Cells with recession cones of every dimension, and cells that contain lines."""
    for seed in range(0, 120, 5):
        case = generated_case(seed)
        atlas = pf.unfold(case.program, case.domain)
        assert pf.certify(atlas).level == "certified", case
        for cell in {0, len(atlas) - 1}:
            flags = atlas.bounded.copy()
            flags[cell] ^= True
            assert pf.certify(replace(atlas, bounded=flags)).level == "counted", (case, cell)


def test_replacing_anything_drops_the_level(atlas):
    other = pf.unfold(random_network(5, 2, 6, 4, 1), pf.box(-2, 2))
    assert is_not_believed(replace(atlas, program=other.program))
    assert is_not_believed(replace(atlas, domain=pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 3)).domain))
    assert is_not_believed(replace(atlas, exact_witnesses={0: (Fraction(1, 3), Fraction(1, 3))}))
    for name in ARRAYS:
        # The same numbers are the same atlas.
        assert replace(atlas, **{name: getattr(atlas, name).copy()}).certificate.level == "certified"


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forgeries_lose_the_level_also_through_a_file(atlas, forge, tmp_path):
    forged = forge(atlas, np.random.default_rng(1))
    assert is_not_believed(forged)
    forged.save(tmp_path / "forged.parquet")
    again = pf.open(tmp_path / "forged.parquet")
    assert is_not_believed(again) and again.certificate.checks == forged.certificate.checks


# -- what was typed in or copied counts for nothing


def test_a_level_that_was_typed_in(atlas):
    raised = replace(pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 2)).certificate, level="certified")
    assert is_not_believed(atlas.with_certificate(raised))
    typed = pf.Certificate("certified", True, "by hand", 0.0, 1, atlas.program.digest, atlas.domain.digest)
    assert is_not_believed(atlas.with_certificate(typed)) and is_not_believed(replace(atlas, certificate=typed))
    part = pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 2), max_cells=5)
    assert is_not_believed(part.with_certificate(replace(part.certificate, complete=True)))
    opened = replace(atlas.certificate, recorded="in the file")
    assert is_not_believed(atlas.with_certificate(opened))


def test_a_certificate_of_another_atlas(atlas):
    others = [
        pf.unfold(random_network(5, 2, 6, 4, 1), pf.box(-2, 2)),
        pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 3)),
        keeping_cells(atlas, np.arange(len(atlas)) < 10, hole=-1),
    ]
    for other in others:
        assert is_not_believed(other.with_certificate(atlas.certificate))


def test_what_the_engine_check_and_certify_say_is_believed(atlas):
    fresh = pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 2))
    assert (fresh.certificate.level, fresh.complete) == ("checked", True)
    assert fresh.with_certificate(pf.check(fresh)).certificate.level == "checked"
    # Arrays do not depend on threads, so that a certificate of one run is one of the other's.
    assert fresh.with_certificate(atlas.certificate).certificate.level == "certified"
    for twin in (copy.copy(atlas), copy.deepcopy(atlas), pickle.loads(pickle.dumps(atlas))):
        assert replace(twin).certificate.level == "certified"


def test_arrays_cannot_be_forced_to_change(atlas):
    """What is digested only when somebody reads it must be what was found."""
    edited_twin = replace(atlas, bounded=atlas.bounded.copy())
    for one in (atlas, pf.unfold(random_network(4, 2, 6, 4, 1)), copy.deepcopy(atlas), edited_twin):
        for name in ARRAYS:
            array = getattr(one, name)
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
            for each in (array, array[:1], array.view(), array.T):
                with pytest.raises(ValueError, match="cannot set WRITEABLE"):
                    each.setflags(write=True)
        with pytest.raises(TypeError):
            one.exact_witnesses[0] = (Fraction(1, 3),)


def forced(atlas: pf.Atlas, name: str, change: Callable[[np.ndarray], None]) -> None:
    """A change by way of the memory behind an array, which is none of polyfold's names."""
    behind = getattr(atlas, name).base.obj
    behind.setflags(write=True)
    change(behind)


def flipped(flags: np.ndarray) -> None:
    flags[0] ^= True


def test_changes_of_the_memory_are_found_if_the_digest_was_read():
    atlas = pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 2))
    assert atlas.certificate.arrays_digest
    forced(atlas, "bounded", flipped)
    assert not pf.check(atlas) and not pf.certify(atlas)


def test_forced_changes_are_not_saved_with_a_level(atlas, tmp_path):
    twin = copy.deepcopy(atlas)
    forced(twin, "witnesses", lambda witnesses: np.nextafter(witnesses, 9, out=witnesses))
    twin.save(tmp_path / "forced.parquet")
    assert is_not_believed(pf.open(tmp_path / "forced.parquet"))


def test_certify_proves_what_is_there_whoever_made_it(atlas):
    """Other witnesses of the same cells: nobody has seen these arrays, and they are right."""
    moved = edited(atlas, "witnesses", np.random.default_rng(0))
    assert is_not_believed(moved)
    proved = moved.with_certificate(pf.certify(moved))
    assert proved.certificate.level == "certified" and proved.complete and pf.stats.maximum(proved).proved


# -- files


def test_a_level_from_a_file_says_so(atlas, tmp_path):
    atlas.save(tmp_path / "atlas.parquet")
    again = pf.open(tmp_path / "atlas.parquet")
    assert again.certificate.level == "certified" and again.certificate.recorded
    assert "as recorded in the file" in repr(again) and "as recorded in the file" in repr(pf.stats.maximum(again))
    assert not pf.stats.maximum(again).proved
    assert pf.stats.maximum(again.with_certificate(pf.certify(again))).proved
    # Checks do not prove that cells are not missing; that is still what the file says.
    assert pf.check(again).recorded and pf.check(again).level == "checked"
    with pytest.raises(pf.errors.UnknownError):
        bool(again.certificate)


def test_a_proof_that_was_not_ended_leaves_a_file_the_only_source(tmp_path):
    gates = (np.random.default_rng(0).normal(size=(40, 3)), np.zeros(40))
    pf.unfold([gates, (np.ones((1, 40)), [0.0])]).save(tmp_path / "wide.parquet")
    hurried = pf.certify(pf.open(tmp_path / "wide.parquet"), max_seconds=1e-9)
    assert hurried.level == "counted" and hurried.complete and hurried.recorded


def test_a_file_with_a_certificate_of_another_network(atlas, tmp_path):
    """Checksums can be computed by whoever writes a file; digests of the network are compared all the same."""
    import pyarrow.parquet as pq

    from polyfold.atlas.storage import _checksum

    atlas.save(tmp_path / "atlas.parquet")
    table = pq.read_table(tmp_path / "atlas.parquet")
    header = json.loads(table.schema.metadata[b"polyfold"])
    header["certificate"]["network_digest"] = "0" * 64
    header.pop("sha256")
    header["sha256"] = _checksum(header)
    forged = table.replace_schema_metadata({b"polyfold": json.dumps(header).encode()})
    pq.write_table(forged, tmp_path / "forged.parquet")
    assert is_not_believed(pf.open(tmp_path / "forged.parquet"))


# -- no answer is surer than the atlas


def test_answers_carry_their_evidence(atlas):
    checked = pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 2))
    for source, level in ((checked, "checked"), (atlas, "certified")):
        classes = pf.stats.classes(source)
        graph = pf.graph.dual(source)
        answers = [
            pf.stats.maximum(source),
            pf.stats.minimum(source),
            pf.stats.lipschitz(source),
            pf.regions(source),
            pf.stats.boxes(source),
            pf.summarise(source, source.witnesses),
            graph,
            pf.graph.diameter(graph),
            pf.graph.path(source, 0, 5),
            pf.compare.canonical(source),
            pf.rewrite.shallow(source),
        ]
        for answer in answers:
            evidence = answer.evidence
            assert (evidence.level, evidence.complete, evidence.proved) == (level, True, level == "certified"), answer
            assert evidence.network_digest == source.program.digest
            assert evidence.domain_digest == source.domain.digest
            assert evidence.arrays_digest == source.arrays_digest
            assert json.loads(json.dumps(evidence.to_json()))["level"] == level
            assert "proved" in repr(answer) or level in repr(answer) or isinstance(answer, pf.graph.Route)
        # Parts of cells are unfolded anew, and checked.
        areas, boundary = pf.stats.class_areas(classes), pf.stats.decision_boundary(classes)
        parts = [
            classes,
            areas,
            boundary,
            pf.stats.nearest_change(classes, source.witnesses[:1]),
            pf.topology.faces(source),
        ]
        for answer in parts[:4]:
            assert answer.evidence.level == "checked" and "checked" in repr(answer)
        assert parts[4].evidence.level == level


def test_the_maximum_over_a_forged_atlas_is_not_proved(atlas):
    part = keeping_cells(atlas, np.arange(len(atlas)) < 10, hole=-1)
    forged = part.with_certificate(atlas.certificate)
    with pytest.raises(pf.PolyfoldError, match="not known to be complete"):
        pf.stats.maximum(forged)
    refuted = forged.with_certificate(pf.certify(forged))
    with pytest.raises(pf.PolyfoldError, match=r"a check failed: .*failed_checks say where.*pf\.unfold finds"):
        pf.stats.maximum(refuted)
    over_some = pf.stats.maximum(forged, cells=range(10))
    assert not over_some.proved and "(counted)" in repr(over_some)
    checked = pf.stats.maximum(pf.unfold(random_network(4, 2, 6, 4, 1), pf.box(-2, 2)))
    assert not checked.proved and checked.settled and "(checked)" in repr(checked)
    assert pf.stats.maximum(atlas).proved and "(proved)" in repr(pf.stats.maximum(atlas))


@pytest.mark.shared("models")
@pytest.mark.skipif(not ACAS.is_file(), reason=f"THE SHARED MODELS ARE ABSENT: there is no {ACAS}")
def test_a_hundred_cells_of_an_acasxu_network():
    atlas = pf.unfold(ACAS, pf.box([-0.3035, -0.0095, 0.4934, 0.3, 0.3], [-0.2986, 0.0095, 0.5, 0.5, 0.5]))
    assert len(atlas) > 70_000
    forged = keeping_cells(atlas, np.arange(len(atlas)) < 100, hole=-1).with_certificate(atlas.certificate)
    with pytest.raises(pf.PolyfoldError, match="not known to be complete"):
        pf.stats.maximum(forged, output=0)
    assert "proved" not in repr(pf.stats.maximum(forged, output=0, cells=range(100)))


# -- what is spoken of


def test_a_rounded_program_is_not_certified_as_the_network():
    atlas = pf.unfold(lower(pf.load(two_linear_layers(3.0, 0.1))), pf.box(-1, 1))
    assert atlas.program.rounded
    certificate = pf.certify(atlas)
    assert certificate.level == "certified" and "a neighbour of the network" in str(certificate)
    atlas = atlas.with_certificate(certificate)
    assert not pf.stats.maximum(atlas).proved and "a neighbour of the network" in repr(pf.stats.maximum(atlas))
    assert "neighbour" in pf.stats.maximum(atlas).evidence.to_json()["of"]
    with pytest.raises(pf.errors.UnknownError):
        bool(certificate)


def test_an_edited_network_is_not_that_of_the_atlas(atlas):
    shallow = pf.rewrite.shallow(atlas)
    assert shallow.evidence.proved and pf.compare.canonical(atlas).shallow().evidence.proved
    assert pf.rewrite.edit(shallow, region=[0], freeze=True).network.evidence.proved
    assert pf.rewrite.edit(shallow, region=[0], map=([[0.0, 0.0]], [0.0])).network.evidence.nothing
