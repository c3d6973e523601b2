"""Saved atlases of structured programs: the program comes back as it was, and everything works as before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import polyfold as pf
from helpers.random_networks import networks
from helpers.slow_params import examples
from polyfold.atlas import storage
from polyfold.atlas.stored_program import program_from, program_text
from polyfold.datasets.convolutional import mnist_conv
from polyfold.errors import StorageError
from polyfold.network import Network
from polyfold.program.lower.lower import lower

pytest.importorskip("pyarrow")

QUICK = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(networks(with_spatial=True))
@pytest.mark.parametrize("structured", [True, False])
def test_programs_come_back(structured: bool, network: Network) -> None:
    program = lower(network, structured=structured)
    text = json.dumps(program_text(program))
    found = program_from(json.loads(text))
    assert found.digest == program.digest
    assert found.written_out == program.written_out
    assert found.origins == program.origins
    X = np.random.default_rng(0).normal(size=(5, network.input_dim))
    for ours, theirs in zip(found.evaluate(X), program.evaluate(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # What was shared is shared again.
    assert len(found.steps.steps) == len(program.steps.steps)


@pytest.mark.parametrize("kind", ["line", "plane"])
def test_slices_of_a_convolutional_network_come_back(kind: str, tmp_path: Path) -> None:
    p, q, r = np.random.default_rng(0).random(size=(3, 28, 28))
    where = pf.line(p, q, extend=(0, 0.02)) if kind == "line" else pf.plane(p, q, r, pf.box(0, 0.002))
    atlas = pf.unfold(mnist_conv(), where)
    assert not atlas.program.written_out and len(atlas) > 5
    path = tmp_path / "atlas.parquet"
    atlas.save(path)
    # The weights and not the matrices of the convolutions, which are a hundred times as much.
    assert path.stat().st_size < 5_000_000
    found = pf.open(path)
    assert found.certificate == atlas.certificate and found.certificate.level == "checked"
    assert found.program.digest == found.certificate.network_digest
    assert found.domain.digest == found.certificate.domain_digest
    assert not found.program.written_out
    assert pf.check(found).level == "checked"
    assert (found.locate(atlas.witnesses) == np.arange(len(atlas))).all()
    np.testing.assert_array_equal(found.lift(atlas.witnesses), atlas.lift(atlas.witnesses))
    for over in ("inputs", "parameters"):
        for ours, theirs in zip(found.maps([0, 3], over=over), atlas.maps([0, 3], over=over), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(found.volumes(), atlas.volumes())
    assert str(found.program.origins[0]) == str(atlas.program.origins[0])
    assert pf.regions(found).label.tolist() == pf.regions(atlas).label.tolist()


def test_a_header_that_parquet_cannot_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    atlas = pf.unfold([([[1.0]], [0.0]), ([[1.0]], [0.0])], pf.box(-1, 1))
    monkeypatch.setattr(storage, "_MOST_HEADER", 1000)
    with pytest.raises(StorageError, match="save the network by itself"):
        atlas.save(tmp_path / "atlas.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text["forms"][0].update(kind="Unknown"),
        lambda text: text["operators"][0].update(kind="Unknown"),
        lambda text: text["forms"][-1].update(parts=[-1]),
        lambda text: text["forms"][-1].update(parts=[10**6]),
        lambda text: text["output"].update(form=-1),
        lambda text: text.pop("forms"),
    ],
)
def test_changed_programs_are_refused(change: object) -> None:
    text = json.loads(json.dumps(program_text(lower(mnist_conv()))))
    change(text)
    with pytest.raises(storage._DAMAGE):
        program_from(text)
