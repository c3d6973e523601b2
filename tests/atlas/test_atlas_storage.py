"""Atlases on disk: nothing is lost, nothing is half-written, and other files are refused by name."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import CORNER, by_hand, unfolded
from polyfold.domain.domain import Domain
from polyfold.errors import StorageError
from polyfold.program.affine import Affine

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ARRAYS = ("patterns", "witnesses", "bounded", "facet_start", "facet_wall", "neighbour", "shared_facet", "shared_wall")


def sample() -> pf.Atlas:
    """A slice with shared walls, an exact witness, bounded cells and others."""
    return unfolded(7)[1]


def assert_equal(found: pf.Atlas, atlas: pf.Atlas) -> None:
    for name in ARRAYS:
        mine, theirs = getattr(found, name), getattr(atlas, name)
        assert mine.dtype == theirs.dtype and np.array_equal(mine, theirs), name
        assert not mine.flags.writeable
    assert found.certificate == atlas.certificate
    assert dict(found.exact_witnesses) == dict(atlas.exact_witnesses)
    for name in Domain.__dataclass_fields__:
        assert np.array_equal(getattr(found.domain, name), getattr(atlas.domain, name)), name
    assert (found.program.digest, found.domain.digest) == (atlas.program.digest, atlas.domain.digest)
    assert found.program.origins == atlas.program.origins
    assert found.program.input_dim == atlas.program.input_dim
    affines = [stage.affine for stage in found.program.stages] + [found.program.output]
    expected = [stage.affine for stage in atlas.program.stages] + [atlas.program.output]
    assert all(same_affine(a, b) for a, b in zip(affines, expected, strict=True))
    for a, b in zip(found.program.stages, atlas.program.stages, strict=True):
        assert np.array_equal(a.slope_on, b.slope_on) and np.array_equal(a.slope_off, b.slope_off)


def same_affine(a: Affine, b: Affine) -> bool:
    blocks = zip(a.blocks, b.blocks, strict=True)
    return np.array_equal(a.bias, b.bias) and all(
        p.source == q.source and np.array_equal(p.weight, q.weight) for p, q in blocks
    )


@pytest.mark.parametrize("batch", range(2))
def test_generated_atlases_come_back(batch, tmp_path):
    path = tmp_path / "atlas.parquet"
    for seed in range(batch, 80, 2):
        _, atlas = unfolded(seed)
        atlas.save(path)
        found = pf.open(path)
        assert_equal(found, atlas)
    assert np.array_equal(found.locate(atlas.witnesses, outside="ignore"), atlas.locate(atlas.witnesses))
    assert pf.check(found).level == "checked"


def test_special_atlases_come_back(tmp_path):
    path = str(tmp_path / "atlas.parquet")
    incomplete = pf.unfold(CORNER, max_cells=2)
    walls = pf.unfold([(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), np.zeros(3)), (np.ones((1, 3)), [0.0])])
    assert len(walls.shared_facet)
    exact = replace(walls, exact_witnesses={1: (Fraction(1, 3), Fraction(-(10**40), 7))})
    for atlas in (*by_hand(), incomplete, walls, exact):
        atlas.save(path)
        assert_equal(pf.open(path), atlas)


def test_exact_witnesses_of_the_engine_come_back(tmp_path):
    """Two walls that differ by one unit in the last place leave no float between them."""
    step = np.nextafter(1.0, 2.0)
    slivers = pf.unfold([(np.array([[1.0], [1.0]]), np.array([-1.0, -step])), (np.ones((1, 2)), np.zeros(1))])
    assert len(slivers) == 3
    assert slivers.exact_witnesses
    slivers.save(tmp_path / "a")
    assert_equal(pf.open(tmp_path / "a"), slivers)


def test_a_saved_file_is_an_ordinary_file(tmp_path):
    """Its permissions are those of any new file, and a folder's name does not become a column."""
    folder = tmp_path / "seed=3"
    folder.mkdir()
    pf.unfold(CORNER).save(folder / "atlas.parquet")
    (folder / "other").write_text("")
    assert (folder / "atlas.parquet").stat().st_mode == (folder / "other").stat().st_mode
    assert len(pf.open(folder / "atlas.parquet")) == 4
    assert sorted(os.listdir(folder)) == ["atlas.parquet", "other"]


def saved(tmp_path):
    path = tmp_path / "atlas.parquet"
    sample().save(path)
    return path


def refuse(path) -> str:
    with pytest.raises(StorageError) as caught:
        pf.open(path)
    message = str(caught.value)
    assert repr(str(path)) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1PAR1", bytes(range(256)) * 20, b"PAR1" + b"\0" * 400 + b"PAR1"]
)
def test_files_of_anything(content, tmp_path):
    path = tmp_path / "some.parquet"
    path.write_bytes(content)
    assert "cannot be read as a saved atlas" in refuse(path)


def test_random_bytes(tmp_path):
    rng = np.random.default_rng(0)
    for size in (1, 12, 1000, 20_000):
        path = tmp_path / "some.parquet"
        path.write_bytes(b"PAR1" + rng.bytes(size) + (size).to_bytes(4, "little") + b"PAR1")
        refuse(path)


def test_a_file_cut_short_anywhere(tmp_path):
    path = saved(tmp_path)
    content = path.read_bytes()
    for length in np.linspace(0, len(content) - 1, 40).astype(int):
        path.write_bytes(content[:length])
        refuse(path)


def test_flipped_bytes_are_noticed_or_do_not_matter(tmp_path):
    path = saved(tmp_path)
    content, atlas = bytearray(path.read_bytes()), sample()
    refused = 0
    for at in np.linspace(4, len(content) - 5, 300).astype(int):
        changed = bytearray(content)
        changed[at] ^= 0x11
        path.write_bytes(changed)
        try:
            found = pf.open(path)
        except StorageError as error:
            refused += 1
            assert repr(str(path)) in str(error)
        else:
            assert_equal(found, atlas)
    assert refused > 150


def test_no_file_a_folder_and_a_file_below_a_file(tmp_path):
    assert "No such file" in refuse(tmp_path / "absent.parquet")
    assert "directory" in refuse(tmp_path)
    assert "Not a directory" in refuse(saved(tmp_path) / "atlas.parquet")


def test_parquet_that_others_wrote(tmp_path):
    path = tmp_path / "foreign.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    assert "not one that polyfold wrote" in refuse(path)


def rewrite(path, change_table=None, change_header=None):
    table = pq.read_table(path)
    header = json.loads(table.schema.metadata[b"polyfold"])
    if change_header:
        changed = change_header(header)
        header = header if changed is None else changed
    if change_table:
        table = change_table(table)
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    pq.write_table(table.replace_schema_metadata({b"polyfold": text}), path)


def test_a_rewritten_file_is_still_read(tmp_path):
    """The same table in other pieces: what is refused below is the tampering, not the rewriting."""
    path = saved(tmp_path)
    rewrite(path)
    table = pq.read_table(path)
    pq.write_table(table, path, row_group_size=3, compression="none")
    assert_equal(pf.open(path), sample())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h: h.update(version=4), "schema version 4; this polyfold reads versions 2 and 3"),
        (lambda h: h.pop("version") and None, "damaged header"),
        (lambda h: b"{not json", "damaged header"),
        (lambda h: b"\xff\xfe", "damaged header"),
        (lambda h: b"[" * 100_000, "damaged header"),
        (lambda h: [], "damaged header"),
        (lambda h: b"null", "damaged header"),
        (lambda h: h.pop("program") and None, "is damaged"),
        (lambda h: h.update(program=[]), "is damaged"),
        (lambda h: h.update(program=7), "is damaged"),
        (lambda h: h.update(domain={}), "is damaged"),
        (lambda h: h.update(certificate=None), "is damaged"),
        (lambda h: h["certificate"].update(level="certified"), "do not fit their checksum"),
        (lambda h: h["certificate"].update(extra=1), "is damaged"),
        (lambda h: h["certificate"].update(checks=[3]), "is damaged"),
        (lambda h: h.update(cells=h["cells"] + 1), "is damaged"),
        (lambda h: h["program"]["origins"].pop() and None, "is damaged"),
        (lambda h: h["program"].update(input_dim=1), "checksum"),
        (lambda h: h["program"]["output"]["bias"].update(float64="AAA"), "is damaged"),
        (lambda h: h["program"]["output"]["bias"].update(float64="%%%%"), "is damaged"),
        (lambda h: h["program"]["output"]["bias"].update(shape=[10**12]), "is damaged"),
        (lambda h: h["domain"]["basis"].update(shape=[1]), "is damaged"),
        (lambda h: h.pop("sha256") and None, "is damaged"),
        (lambda h: h.update(sha256="0" * 64), "checksum"),
    ],
)
def test_changed_headers(change, words, tmp_path):
    path = saved(tmp_path)
    rewrite(path, change_header=change)
    assert words in refuse(path)


COLUMNS = ("pattern", "witness", "exact_witness", "bounded", "facet_wall", "neighbour", "shared_facet", "shared_wall")


@pytest.mark.parametrize("name", COLUMNS)
def test_missing_columns_and_columns_of_another_type(name, tmp_path):
    path = saved(tmp_path)
    rewrite(path, change_table=lambda table: table.drop_columns([name]))
    refuse(path)
    for values in (lambda n: pa.nulls(n), lambda n: pa.array(["1/0"] * n), lambda n: pa.array([2**62] * n)):
        path = saved(tmp_path)
        if name == "exact_witness" and values(3).null_count:
            continue
        position = COLUMNS.index(name)
        rewrite(path, change_table=lambda table, v=values, p=position: table.set_column(p, name, v(table.num_rows)))
        refuse(path)


def test_changed_numbers(tmp_path):
    for name, change in (
        ("neighbour", lambda rows: [[value + 1 for value in row] for row in rows]),
        ("neighbour", lambda rows: [row[:-1] for row in rows]),
        ("facet_wall", lambda rows: [[] for _ in rows]),
        ("facet_wall", lambda rows: [None for _ in rows]),
        ("bounded", lambda rows: [not value for value in rows]),
        ("witness", lambda rows: [[value + 1e-9 for value in row] for row in rows]),
        ("pattern", lambda rows: rows[::-1]),
    ):
        path = saved(tmp_path)

        def changed(table, name=name, change=change):
            column = table.column(name)
            values = pa.array(change(column.to_pylist()), type=column.type)
            return table.set_column(table.column_names.index(name), name, values)

        rewrite(path, change_table=changed)
        refuse(path)
    path = saved(tmp_path)
    rewrite(path, change_table=lambda table: table.slice(1))
    assert "cells" in refuse(path)


def refuse_to_save(atlas, path) -> str:
    with pytest.raises(StorageError) as caught:
        atlas.save(path)
    assert repr(str(path)) in str(caught.value)
    return str(caught.value)


def test_places_that_cannot_be_written(tmp_path):
    atlas = pf.unfold(CORNER)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    assert "No such file" in refuse_to_save(atlas, tmp_path / "absent" / "atlas.parquet")
    assert "Not a directory" in refuse_to_save(atlas, tmp_path / "file" / "atlas.parquet")
    assert "directory" in refuse_to_save(atlas, tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert os.listdir(tmp_path / "folder") == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), None])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(error, tmp_path, monkeypatch):
    path = saved(tmp_path)
    before = path.read_bytes()

    def fails(writer, table):
        raise error or pa.ArrowInvalid("a number too large")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", fails)
    atlas = pf.unfold(CORNER)
    if isinstance(error, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            atlas.save(path)
    else:
        assert ("No space left" if error else "a number too large") in refuse_to_save(atlas, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["atlas.parquet"]


def test_saving_over_an_old_file_replaces_it(tmp_path):
    path = saved(tmp_path)
    pf.unfold(CORNER).save(path)
    assert len(pf.open(path)) == 4
    assert os.listdir(tmp_path) == ["atlas.parquet"]


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(StorageError, match=r"pip install 'polyfold\[store\]'"):
        pf.unfold(CORNER).save(tmp_path / "a")
    with pytest.raises(StorageError, match=r"pip install 'polyfold\[store\]'"):
        pf.open(tmp_path / "a")
