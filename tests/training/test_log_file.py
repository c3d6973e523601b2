"""Recordings in files: a crash costs the last snapshot at most, damage is told, and nothing is unpickled."""

from __future__ import annotations

import io
import resource

import numpy as np
import pytest

import polyfold as pf
from polyfold.errors import StorageError
from polyfold.training import log_file


def write(path, steps: int = 4, **options) -> list:
    layers = [(np.zeros((2, 2)), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    with pf.training.record(layers, path, **options) as recorder:
        for step in range(steps):
            layers[0][0][0, 0] += 1.0
            recorder.step(loss=float(step))
    return layers


def ends(path) -> list[int]:
    return [record.end for record in log_file.records(path)]


def test_a_file_that_is_cut_anywhere_has_the_snapshots_before(tmp_path):
    whole = tmp_path / "whole"
    write(whole)
    content, last = whole.read_bytes(), ends(whole)
    assert last[-1] == len(content)
    for size in range(len(log_file.MAGIC), len(content), 3):
        (tmp_path / "cut").write_bytes(content[:size])
        snapshots = sum(end <= size for end in last[1:])
        if snapshots:
            found = pf.training.open(tmp_path / "cut")
            assert found.steps.tolist() == list(range(snapshots))
            assert found.weights(-1)["0.weight"][0, 0] == snapshots - 1
        else:
            with pytest.raises(StorageError, match="holds no snapshot yet"):
                pf.training.open(tmp_path / "cut")


def test_a_byte_that_changed_is_told_or_was_in_the_last_record(tmp_path):
    path = tmp_path / "run"
    write(path)
    content, last = bytearray(path.read_bytes()), ends(path)
    for place in range(0, len(content), 3):
        changed = bytearray(content)
        changed[place] ^= 0x20
        path.write_bytes(changed)
        if place < last[-2]:
            with pytest.raises(StorageError):
                pf.training.open(path)
        else:
            try:
                assert pf.training.open(path).steps.tolist() == [0, 1, 2, 3]
            except StorageError as error:
                assert "head does not fit its checksum" in str(error)


def test_a_tail_of_zeros_is_no_record(tmp_path):
    path = tmp_path / "run"
    write(path)
    with path.open("ab") as file:
        file.write(bytes(64))
    assert len(pf.training.open(path)) == 5


def test_pickled_arrays_are_refused(tmp_path):
    path = tmp_path / "run"
    write(path)
    file = log_file.reopen(path, ends(path)[-1])
    blob = io.BytesIO()
    np.save(blob, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        file.append({"step": 9, "logged": []}, {"0.weight": np.array([{}], dtype=object)})
    file.append({"step": 9, "logged": []}, {})
    file.close()
    stored = log_file.InFile(str(tmp_path / "blob"), 0, len(blob.getvalue()))
    (tmp_path / "blob").write_bytes(blob.getvalue())
    with pytest.raises(StorageError, match="cannot be read any more: Object arrays cannot be loaded"):
        stored.read()


def test_it_can_be_read_while_it_grows(tmp_path):
    layers = [(np.eye(1), np.zeros(1))]
    recorder = pf.training.record(layers, tmp_path / "run")
    for step in range(3):
        assert pf.training.open(tmp_path / "run").steps.tolist() == list(range(step + 1))
        assert len(recorder.recording) == step + 1
        recorder.step()
    recorder.close()
    recorder.close()  # a second time does nothing
    with pytest.raises(pf.PolyfoldError, match="is closed"):
        recorder.step()


def test_going_on_after_a_crash(tmp_path):
    path = tmp_path / "run"
    write(path)
    with pytest.raises(StorageError, match="is there already"):
        write(path)
    content = path.read_bytes()
    path.write_bytes(content[:-5])  # the last of the snapshots 0 to 4 is torn
    layers = [(np.zeros((2, 2)), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    layers[0][0][0, 0] = 3.0
    with pf.training.record(layers, path, resume=True) as recorder:
        layers[1][1][:] = 5.0
        recorder.step(loss=-1.0)
    found = pf.training.open(path)
    assert found.steps.tolist() == [0, 1, 2, 3, 4]
    assert found.weights(-1)["0.weight"][0, 0] == 3.0 and found.weights(-1)["1.bias"][0] == 5.0
    assert found.metrics["loss"].values.tolist() == [0.0, 1.0, 2.0, -1.0]
    # What stayed the same over the crash was not written again.
    assert found.snapshots[-1]["0.weight"] == found.snapshots[-2]["0.weight"]
    with pytest.raises(pf.PolyfoldError, match="a recording is of one architecture"):
        pf.training.record([(np.eye(2), np.zeros(2)), (np.eye(2), np.zeros(2))], path, resume=True)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path):
    path = tmp_path / "run"
    layers = [(np.zeros((100, 100)), np.zeros(100))]
    recorder = pf.training.record(layers, path)
    size, limits = path.stat().st_size, resource.getrlimit(resource.RLIMIT_FSIZE)
    layers[0][0][:] = 1.0
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5000, limits[1]))  # a disk that is full in the middle of it
    try:
        with pytest.raises(StorageError, match="cannot write to"):
            recorder.step()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.stat().st_size == size
    recorder.step()
    recorder.close()
    found = pf.training.open(path)
    assert found.steps.tolist() == [0, 2] and found.weights(1)["0.weight"].all()


def test_resuming_what_never_began(tmp_path):
    path = tmp_path / "run"
    write(path, resume=True)
    first = ends(path)[0]
    path.write_bytes(path.read_bytes()[: first + 3])
    write(path, resume=True)
    assert len(pf.training.open(path)) == 5


def test_other_files_are_refused(tmp_path):
    (tmp_path / "other").write_bytes(b"something else")
    for path in (tmp_path / "other", tmp_path / "missing", tmp_path):
        with pytest.raises(StorageError):
            pf.training.open(path)
    log = log_file.create(tmp_path / "strange")
    log.append({"template": {"nodes": []}}, {})
    log.close()
    with pytest.raises(StorageError, match="is damaged: KeyError"):
        pf.training.open(tmp_path / "strange")
