"""pf.count: closed formulas, the unfolded atlas, limits, degenerate networks."""

from __future__ import annotations

import json
from itertools import pairwise
from math import comb

import numpy as np
import pytest

import polyfold as pf
from polyfold import _core as core
from polyfold.domain.domain import DomainLike
from polyfold.engine.method import PROGRAMS, SECTIONS
from polyfold.testing import generated_case
from polyfold.testing.wide import wide_case

ENOUGH = 80


def arrangement(dim: int, planes: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [
        (rng.standard_normal((planes, dim)), rng.standard_normal(planes)),
        (np.ones((1, planes)), np.zeros(1)),
    ]


def endless() -> list[tuple[np.ndarray, np.ndarray]]:
    """More cells than anybody wants to wait for."""
    rng = np.random.default_rng(0)
    return [(rng.standard_normal((n, m)), rng.standard_normal(n)) for m, n in pairwise((6, 40, 40, 1))]


@pytest.mark.parametrize(("dim", "planes"), [(1, 9), (2, 40), (3, 20), (4, 14), (6, 9), (9, 12)])
def test_hyperplanes_in_general_position(dim: int, planes: int) -> None:
    found = pf.count(arrangement(dim, planes))
    assert found.cells == sum(comb(planes, k) for k in range(dim + 1))
    assert found.complete and found.stopped_by is None and found.method == SECTIONS
    # A flat of dimension j is an arrangement of the other hyperplanes in j dimensions.
    faces = [comb(planes, dim - j) * sum(comb(planes - dim + j, k) for k in range(j + 1)) for j in range(dim + 1)]
    assert found.f_vector == tuple(faces)


def test_hyperplanes_through_one_point() -> None:
    layers = arrangement(3, 12)
    layers[0] = (layers[0][0], np.zeros(12))
    found = pf.count(layers)
    assert found.cells == 2 * sum(comb(11, k) for k in range(3))
    assert found.f_vector[0] == 1


def test_the_same_hyperplane_many_times() -> None:
    weights, bias = arrangement(3, 4)[0]
    again = (
        np.concatenate([weights, 2 * weights, -weights, np.zeros((2, 3))]),
        np.concatenate([bias, 2 * bias, -bias, [0, 1]]),
    )
    found = pf.count([again, (np.ones((1, 14)), np.zeros(1))])
    assert found.cells == pf.count(arrangement(3, 4)).cells == 15


@pytest.mark.parametrize(("dim", "planes"), [(2, 200), (3, 90), (4, 70)])
def test_more_hyperplanes_on_a_section_than_a_word_has_bits(dim: int, planes: int) -> None:
    assert pf.count(arrangement(dim, planes)).cells == sum(comb(planes, k) for k in range(dim + 1))


@pytest.mark.parametrize("dim", [2, 3, 4, 5])
@pytest.mark.parametrize("domain", [None, pf.box(-1, 1)])
def test_folds_that_meet_in_points_and_lines_of_sections(dim: int, domain: DomainLike) -> None:
    """Each fold of the last layer but three is a sum of two others: it meets these wherever they meet each other."""
    for seed in range(4):
        rng = np.random.default_rng([dim, seed])
        weights, bias = rng.standard_normal((3, 5)), rng.standard_normal(3)
        for first, second in ((0, 1), (1, 2), (0, 2), (0, 3)):
            factor = rng.choice([-2.0, -1.0, 0.5, 1.0])
            weights = np.vstack([weights, weights[first] + factor * weights[second]])
            bias = np.append(bias, bias[first] + factor * bias[second])
        first_layer = (rng.standard_normal((5, dim)), rng.standard_normal(5))
        layers = [first_layer, (weights, bias), (np.ones((1, len(bias))), np.zeros(1))]
        assert pf.count(layers, domain).cells == len(pf.unfold(layers, domain))


def test_fewer_gates_than_dimensions() -> None:
    assert pf.count(arrangement(5, 3)).cells == 8
    assert pf.count(arrangement(5, 3), pf.box(-100, 100)).cells == 8


def test_no_gates() -> None:
    found = pf.count([(np.ones((1, 2)), np.zeros(1))], pf.box(0, 1))
    assert (found.cells, found.f_vector) == (1, (4, 4, 1))


@pytest.mark.parametrize("first", range(0, ENOUGH, 20))
def test_what_is_unfolded_is_counted(first: int) -> None:
    for seed in range(first, first + 20):
        for case in (generated_case(seed), wide_case(seed, size=8)):
            atlas = pf.unfold(case.program, case.domain)
            for threads in (1, 3):
                found = pf.count(case.program, case.domain, threads=threads)
                assert (found.cells, found.complete) == (len(atlas), True), case


def test_linear_programs_count_in_high_dimension() -> None:
    layers = arrangement(10, 11)
    found = pf.count(layers, pf.box(-1000, 1000))
    assert found.method == PROGRAMS
    assert found.cells == len(pf.unfold(layers, pf.box(-1000, 1000)))


def test_a_time_limit_stops_the_count() -> None:
    found = pf.count(endless(), max_seconds=0.2)
    assert not found.complete and found.stopped_by == "max_seconds"
    assert found.seconds < 2
    with pytest.raises(pf.PolyfoldError, match="not counted to its end"):
        _ = found.f_vector


@pytest.mark.parametrize(
    ("layers", "domain", "method", "names"),
    [
        (arrangement(2, 6), None, SECTIONS, {"two methods agree", "Euler characteristic"}),
        (arrangement(1, 6), pf.box(-3, 3), SECTIONS, {"two methods agree", "Euler characteristic"}),
        (arrangement(2, 6), pf.polytope([[-1.0, 0.0]], [0.0]), SECTIONS, {"two methods agree"}),
        (arrangement(10, 2), pf.box(-9, 9), PROGRAMS, {"two methods agree"}),
        (arrangement(2, 60), None, SECTIONS, set()),
    ],
)
def test_what_is_known_of_the_number(layers: object, domain: object, method: str, names: set[str]) -> None:
    """Checked where a check that can fail has passed, and counted elsewhere."""
    found = pf.count(layers, domain)
    assert found.method == method and {check.name for check in found.certificate.checks} == names
    assert found.certificate.level == ("checked" if names else "counted") and found.complete
    assert found.certificate.level in repr(found)
    told = json.loads(json.dumps(found.to_json()))
    assert (told["cells"], told["certificate"]) == (found.cells, found.certificate.level)
    assert [check["name"] for check in told["checks"]] == [check.name for check in found.certificate.checks]


def test_a_wrong_number_is_not_called_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    right = core.count
    monkeypatch.setattr(core, "count", lambda *given: (right(*given)[0] - 1, True))
    found = pf.count(arrangement(2, 6))
    assert found.certificate.level == "counted"
    assert {check.name for check in found.certificate.failed_checks} == {"two methods agree", "Euler characteristic"}
    assert "CHECK FAILED: two methods agree" in repr(found)


def test_progress_is_reported_and_its_errors_come_through() -> None:
    class EnoughError(Exception):
        pass

    def enough(cells: int) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        pf.count(endless(), progress=enough)


@pytest.mark.parametrize("options", [{"threads": 0}, {"max_seconds": -1.0}, {"threads": 1.5}])
def test_options_that_make_no_sense(options: dict[str, object]) -> None:
    with pytest.raises(pf.PolyfoldError, match="|".join(options)):
        pf.count(arrangement(2, 3), **options)  # type: ignore[arg-type]
