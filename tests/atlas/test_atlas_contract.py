"""The index contract of an atlas, its ids, its cells as views, and how it shows itself."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import polyfold as pf
from helpers.atlas_oracles import CORNER, by_hand, unfolded
from polyfold.errors import DomainError, PolyfoldError, ShapeError

SEEDS = range(60)
DTYPES = {
    "patterns": np.uint8,
    "witnesses": np.float64,
    "bounded": np.bool_,
    "facet_start": np.int64,
    "facet_wall": np.int32,
    "neighbour": np.int32,
    "shared_facet": np.int64,
    "shared_wall": np.int32,
}


def every_atlas():
    yield from by_hand()
    yield from (unfolded(seed)[1] for seed in SEEDS)


def test_arrays_have_the_written_shapes_and_cannot_be_written():
    for atlas in every_atlas():
        cells, facets = len(atlas), len(atlas.facet_wall)
        shapes = {
            "patterns": (cells, -(-atlas.gates // 8)),
            "witnesses": (cells, atlas.dim),
            "bounded": (cells,),
            "facet_start": (cells + 1,),
            "facet_wall": (facets,),
            "neighbour": (facets,),
            "shared_facet": atlas.shared_facet.shape,
            "shared_wall": atlas.shared_facet.shape,
        }
        for name, shape in shapes.items():
            array = getattr(atlas, name)
            assert (array.shape, array.dtype) == (shape, DTYPES[name]), name
            assert not array.flags.writeable
            if array.size:
                with pytest.raises(ValueError, match="read-only"):
                    array[(0,) * array.ndim] = 1
        assert cells >= 1
        assert atlas.facet_start[0] == 0
        assert atlas.facet_start[-1] == facets


def test_a_box_is_no_domain_before_it_has_a_dimension():
    atlas = next(by_hand())
    with pytest.raises(DomainError, match="an atlas's domain must be one for its 3 inputs, not Box"):
        replace(atlas, domain=pf.box(-1, 1))


def test_facets_name_walls_and_neighbours_that_name_them_back():
    for atlas in every_atlas():
        signs = atlas.signs()
        listed = {}
        for cell in range(len(atlas)):
            for facet in atlas.facets(cell):
                walls, across = atlas.walls(facet), int(atlas.neighbour[facet])
                assert len(set(walls)) == len(walls)
                assert all(0 <= wall < atlas.gates + atlas.domain.rows for wall in walls)
                assert across >= -1
                assert (across == -1) == any(wall >= atlas.gates for wall in walls)
                assert (walls[0] >= atlas.gates) == (across == -1)
                if across >= 0:
                    assert across != cell
                    assert set(np.flatnonzero(signs[cell] != signs[across]).tolist()) <= set(walls)
                    assert (signs[cell] != signs[across]).any()
                    assert (cell, across) not in listed
                    listed[cell, across] = frozenset(walls)
        assert all(listed[b, a] == walls for (a, b), walls in listed.items())
        assert atlas.inner_facets == len(listed) // 2
        assert atlas.boundary_facets == len(atlas.neighbour) - len(listed)


def test_patterns_are_packed_lowest_bit_first():
    for atlas in every_atlas():
        signs = atlas.signs()
        assert signs.shape == (len(atlas), atlas.gates)
        by_hand_signs = [
            [atlas.patterns[i, g // 8] >> (g % 8) & 1 for g in range(atlas.gates)] for i in range(len(atlas))
        ]
        assert np.array_equal(signs, np.array(by_hand_signs, dtype=bool).reshape(signs.shape))
        if atlas.gates % 8:
            assert not (atlas.patterns[:, -1] >> (atlas.gates % 8)).any()
        assert np.array_equal(atlas.index.find(atlas.patterns), np.arange(len(atlas)))
        assert len(np.unique(atlas.patterns, axis=0)) == len(atlas)


def test_witnesses_evaluate_to_their_patterns():
    for seed in SEEDS[::2]:
        case, atlas = unfolded(seed)
        _, signs = case.program.evaluate(case.domain.lift(atlas.witnesses))
        assert np.array_equal(signs, atlas.signs()), case


def test_an_index_finds_nothing_that_is_not_there():
    part = pf.unfold(CORNER, max_cells=2)
    assert part.index.find(pf.unfold(CORNER).patterns).tolist() == [0, 1, -1, -1]


@pytest.mark.parametrize("wrong", [[-1], [4], [0, 7], np.int64(4)])
def test_ids_that_do_not_exist(wrong):
    with pytest.raises(IndexError, match="there is no cell"):
        pf.unfold(CORNER).maps(wrong)


@pytest.mark.parametrize("wrong", [[1.0], ["a"], [[0, 1]], np.zeros(3, dtype=bool), [None]])
def test_ids_that_are_no_ids(wrong):
    with pytest.raises(ShapeError, match="cell ids are a list of integers"):
        pf.unfold(CORNER).volumes(wrong)


def test_a_bad_option_is_named():
    with pytest.raises(PolyfoldError, match=r"over must be 'inputs' or 'parameters', got 'outputs'"):
        pf.unfold(CORNER).maps(over="outputs")


@pytest.mark.parametrize(
    "change",
    [
        lambda a: {"bounded": a.bounded[1:]},
        lambda a: {"patterns": a.patterns[:, :0]},
        lambda a: {"witnesses": a.witnesses[:, :1]},
        lambda a: {"facet_start": a.facet_start[:-1]},
        lambda a: {"facet_start": a.facet_start[::-1].copy()},
        lambda a: {"neighbour": a.neighbour[1:]},
        lambda a: {"shared_facet": np.array([2, 1]), "shared_wall": np.array([0, 0])},
        lambda a: {"shared_facet": np.array([10_000]), "shared_wall": np.array([0])},
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(change):
    atlas = pf.unfold(CORNER)
    with pytest.raises(ShapeError, match="an atlas's"):
        replace(atlas, **change(atlas))


def test_an_atlas_is_a_sequence_of_cells():
    atlas = pf.unfold(CORNER, pf.box(-1, 1))
    assert [cell.id for cell in atlas] == [0, 1, 2, 3]
    assert atlas[-1].id == 3
    assert atlas[np.int64(2)].id == 2
    for wrong in (4, -5):
        with pytest.raises(IndexError, match="the atlas has 4"):
            atlas[wrong]
    with pytest.raises(TypeError):
        atlas[1.5]


def test_a_cell_is_a_view():
    case, atlas = unfolded(8)
    rng = np.random.default_rng(0)
    A, c = atlas.maps()
    for cell in atlas:
        i = cell.id
        assert np.array_equal(cell.witness, atlas.witnesses[i])
        assert np.array_equal(cell.signs, atlas.signs([i])[0])
        assert cell.pattern.replace(" ", "") == "".join("01"[on] for on in cell.signs.astype(int))
        assert [len(part) for part in cell.pattern.split(" ")] == [stage.width for stage in case.program.stages]
        assert cell.bounded == atlas.bounded[i]
        assert np.allclose(cell.map[0], A[i]) and np.allclose(cell.map[1], c[i])
        assert np.array_equal(cell.vertices, atlas.vertices([i])[0])
        assert cell.volume == atlas.volumes([i])[0]
        assert len(cell.halfspaces[0]) == len(cell.facets) == atlas.facet_start[i + 1] - atlas.facet_start[i]
        assert (cell.halfspaces[0] @ cell.witness < cell.halfspaces[1]).all()
        assert all(i in [back.id for back in other.neighbours] for other in cell.neighbours)
    with pytest.raises(FrozenInstanceError):
        atlas[int(rng.integers(len(atlas)))].id = 3


def test_how_it_shows_itself():
    for atlas in by_hand():
        assert repr(atlas).startswith(f"Atlas: {len(atlas):,} cell{'s' * (len(atlas) != 1)} of a network with ")
        assert "checked, complete" in repr(atlas)
        table = atlas._repr_html_()
        assert table.startswith("<table>") and table.endswith("</table>")
        assert all(f"<th>{name}</th>" in table for name in atlas.in_words())
        cell = atlas[0]
        assert repr(cell).startswith("Cell 0: " + ("bounded" if cell.bounded else "unbounded"))
        assert "A = " in cell._repr_html_()
    incomplete = pf.unfold(CORNER, max_cells=2)
    assert "incomplete (stopped by max_cells)" in repr(incomplete)


def test_a_data_frame_has_a_row_a_cell():
    for atlas in (*by_hand(), unfolded(1)[1], unfolded(2)[1]):
        frame = atlas.to_pandas()
        assert frame.index.name == "cell"
        assert frame.index.tolist() == list(range(len(atlas)))
        assert frame["bounded"].tolist() == atlas.bounded.tolist()
        assert frame["facets"].tolist() == np.diff(atlas.facet_start).tolist()
        assert frame["pattern"].tolist() == ["".join("01"[on] for on in row) for row in atlas.signs().astype(int)]
        assert np.array_equal(frame[[f"witness_{k}" for k in range(atlas.dim)]], atlas.witnesses)
        A, c = atlas.maps()
        for j in range(atlas.outputs):
            assert np.allclose(frame[[f"A_{j}_{k}" for k in range(atlas.program.input_dim)]], A[:, j])
            assert np.allclose(frame[f"c_{j}"], c[:, j])
    some = pf.unfold(CORNER).to_pandas([2, 0])
    assert some.index.tolist() == [2, 0]


def test_a_wide_map_is_left_out_of_the_data_frame():
    wide = pf.unfold([(np.ones((20, 5)), np.ones(20))], pf.box(0, 1))
    assert not [name for name in wide.to_pandas().columns if name.startswith(("A_", "c_"))]


def test_numbers_of_cells_and_facets_are_checked() -> None:
    atlas = pf.unfold([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    cells, facets = len(atlas), len(atlas.facet_wall)
    assert atlas.facets(-1) == atlas.facets(cells - 1) and len(atlas.facets(-1)) == 2
    assert atlas.walls(-1) == atlas.walls(facets - 1)
    assert atlas.rational_witness(-1) == atlas.rational_witness(cells - 1)
    rows = atlas.halfspaces()
    np.testing.assert_array_equal(rows[-1][0], rows[cells - 1][0])
    np.testing.assert_array_equal(atlas.generators().vertices(-1), [[0.0, 0.0]])
    for wrong in (cells, -cells - 1):
        for look in (atlas.facets, atlas.rational_witness, rows.__getitem__, atlas.generators().vertices):
            with pytest.raises(IndexError, match=f"there is no (cell|item) {wrong}: the (atlas|list) has {cells}"):
                look(wrong)
    with pytest.raises(IndexError, match=f"there is no facet {facets}"):
        atlas.walls(facets)
    with pytest.raises(TypeError):
        atlas.facets(0.5)


def test_one_thing_is_not_many() -> None:
    atlas = pf.unfold([([[1.0]], [0.0]), ([[1.0]], [0.0])], pf.polytope([[1.0]], [-1.0]))
    assert repr(atlas).startswith("Atlas: 1 cell of a network with 1 gate on R^1 cut by 1 row;")
    assert "1 facet," in repr(atlas[0]) and atlas.in_words()["gates"] == "1 in 1 stage"
    assert repr(pf.local([([[1.0]], [0.0])], [[1.0]])).startswith("LocalMaps: 1 input")


def test_long_lists_show_themselves_in_a_line() -> None:
    atlas = pf.unfold(CORNER)
    assert repr(atlas.halfspaces()) == "Halfspaces: 8 rows of 4 cells"
    assert repr(atlas.generators([0])) == "Generators: 3 vertices, rays and lines of 1 item"
    assert repr(pf.local(CORNER, [[1.0, 2.0]]).facets(0)).startswith("CellFacets: 2 facets of 2 rows, proved by ")
