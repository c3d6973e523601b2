"""Two programs as one, and gates that repeat others: the same function to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from polyfold.errors import ShapeError
from polyfold.exact.rational import rational
from polyfold.program.derive.shared_gates import without_repeats
from polyfold.program.derive.side_by_side import side_by_side
from polyfold.program.lower.lower import lower
from polyfold.program.passes.rationals import evaluate_exactly
from polyfold.testing import generated_case, program_from_layers


def exact(program, x):
    return evaluate_exactly(program, [rational(value) for value in x.tolist()])


@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_both_outputs_are_there_exactly(seed):
    a = generated_case(seed).program
    b = next(
        case.program
        for case in (generated_case(other) for other in range(seed + 1, 400))
        if case.program.input_dim == a.input_dim
    )
    both = side_by_side(a, b)
    rng = np.random.default_rng(seed)
    assert both.gates == a.gates + b.gates and both.output_dim == a.output_dim + b.output_dim
    smaller = without_repeats(side_by_side(both, a))
    assert smaller.gates <= both.gates
    for x in np.round(rng.normal(size=(3, a.input_dim)), 2):
        one, two, joint = exact(a, x), exact(b, x), exact(both, x)
        assert joint.outputs == [*one.outputs, *two.outputs]
        assert sorted(map(str, joint.preactivations)) == sorted(map(str, [*one.preactivations, *two.preactivations]))
        assert exact(smaller, x).outputs == [*one.outputs, *two.outputs, *one.outputs]
    names = [str(origin) for origin in both.origins]
    assert len(names) == both.gates
    assert sum(name.startswith("first network's") for name in names) == a.gates
    assert str(both.origins[-1]) == names[-1]


def test_structured_programs_stay_structured():
    torch = pytest.importorskip("torch")
    from polyfold.network.load import load

    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 3)
    ).double()
    network = load(module, input_shape=(1, 6, 6))
    rng = np.random.default_rng(0)
    plain = program_from_layers([(rng.normal(size=(5, 36)), rng.normal(size=5)), (rng.normal(size=(2, 5)), [0.0, 1.0])])
    structured = lower(network, structured=True)
    X = rng.normal(size=(20, 36))
    for a, b in ((structured, plain), (plain, structured), (structured, structured)):
        both = side_by_side(a, b)
        assert not both.written_out and len(both.origins) == both.gates
        np.testing.assert_allclose(both.evaluate(X)[0], np.hstack([a.evaluate(X)[0], b.evaluate(X)[0]]), atol=1e-12)
        assert all(both.origins[g].node for g in (0, both.gates // 2, both.gates - 1))
    # What is computed once for several readers still is.
    assert len(side_by_side(structured, structured).steps.steps) <= 2 * len(structured.steps.steps)


def test_inputs_must_agree():
    a, b = (program_from_layers([(np.ones((1, n)), [0.0])]) for n in (2, 3))
    with pytest.raises(ShapeError, match="2 inputs, the second one 3 inputs"):
        side_by_side(a, b)


def test_gates_are_shared_only_where_nothing_is_rounded():
    gates = ([[1.0], [1.0]], [0.0, 0.0])
    assert without_repeats(program_from_layers([gates, ([[1.0, 2.0]], [0.0])])).gates == 1
    # 1 + 2**-60 is no float, so both gates stay.
    assert without_repeats(program_from_layers([gates, ([[1.0, 2.0**-60]], [0.0])])).gates == 2
    # Neither are multiples by other numbers than powers of two, other slopes, or negative multiples.
    thirds = ([[1.0], [3.0], [-1.0]], [0.0, 0.0, 0.0])
    assert without_repeats(program_from_layers([thirds, ([[1.0, 1.0, 1.0]], [0.0])])).gates == 3
    leaky = program_from_layers([gates, ([[1.0, 2.0]], [0.0])], slopes=[(1.0, [0.0, 0.5])])
    assert without_repeats(leaky).gates == 2


def test_a_network_beside_itself_has_no_more_gates():
    rng = np.random.default_rng(0)
    layers = [
        (rng.normal(size=(6, 3)), rng.normal(size=6)),
        (rng.normal(size=(5, 6)), rng.normal(size=5)),
        (np.ones((1, 5)), [0.0]),
    ]
    program = program_from_layers(layers)
    assert without_repeats(side_by_side(program, program)).gates == program.gates == 11
