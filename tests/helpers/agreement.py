"""How the tests compare the compiled engine with the reference engine: cell for cell and facet for facet."""

from __future__ import annotations

from polyfold.atlas.atlas import Atlas
from polyfold.testing.reference import ReferenceAtlas


def assert_same(atlas: Atlas, reference: ReferenceAtlas) -> None:
    patterns = [tuple(row) for row in atlas.signs().tolist()]
    number = {pattern: i for i, pattern in enumerate(reference.patterns)}
    assert sorted(patterns) == sorted(number)
    for cell, pattern in enumerate(patterns):
        expected = reference.facets[number[pattern]]
        found = {
            (frozenset(atlas.walls(facet)), _translated(int(atlas.neighbour[facet]), patterns, number))
            for facet in atlas.facets(cell)
        }
        assert len(found) == len(atlas.facets(cell))
        assert found == {(facet.walls, facet.neighbour) for facet in expected}
        assert bool(atlas.bounded[cell]) == reference.bounded[number[pattern]]


def _translated(neighbour: int, patterns: list[tuple[bool, ...]], number: dict[tuple[bool, ...], int]) -> int:
    return number[patterns[neighbour]] if neighbour >= 0 else neighbour
