"""Constants that a model computes from constants are what they are in real arithmetic, not what its runtime rounds."""

from __future__ import annotations

import io
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import pytest

import polyfold as pf
from polyfold.program.exact_program import lower_exactly
from polyfold.program.lower.lower import lower

onnx = pytest.importorskip("onnx")
torch: Any = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper, numpy_helper
from torch import nn

KINDS = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE}


class Expression:
    """Constants that nodes compute, beside the fractions that they are: an oracle that shares no code."""

    def __init__(self, kind=np.float64):
        self.kind, self.nodes, self.constants = kind, [], []

    def number(self, *values):
        """A constant of the file, and its numbers."""
        name = f"c{len(self.constants)}"
        array = np.array(values, dtype=self.kind)
        self.constants.append(numpy_helper.from_array(array, name))
        return name, [Fraction(float(value)) for value in array]

    def node(self, op, numbers, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name, numbers

    def binary(self, op, a, b):
        combine = {"Add": lambda x, y: x + y, "Sub": lambda x, y: x - y, "Mul": lambda x, y: x * y}
        combine["Div"] = lambda x, y: x / y
        return self.node(op, [combine[op](x, y) for x, y in zip(a[1], b[1], strict=True)], a[0], b[0])

    def mean(self, a):
        total = sum(a[1], Fraction(0)) / len(a[1])
        name, _ = self.node("ReduceMean", None, a[0], axes=[0], keepdims=1)
        return self.node("Expand", [total] * len(a[1]), name, self._shape(len(a[1])))

    def turned(self, a):
        return self.node("Gather", a[1][::-1], a[0], self._places(len(a[1])), axis=0)

    def _shape(self, count):
        return self._whole([count])

    def _places(self, count):
        return self._whole(range(count)[::-1])

    def _whole(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(list(values), dtype=np.int64), name))
        return name

    def model(self, factor, offset=None):
        """relu(x) * factor + offset, entry by entry."""
        nodes = [*self.nodes, helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Mul", ["r", factor], ["p"])]
        nodes.append(
            helper.make_node("Add", ["p", offset], ["y"]) if offset else helper.make_node("Identity", ["p"], ["y"])
        )
        shape = ["rows", 3]
        graph = helper.make_graph(
            nodes,
            "graph",
            [helper.make_tensor_value_info("x", KINDS[self.kind], shape)],
            [helper.make_tensor_value_info("y", KINDS[self.kind], shape)],
            self.constants,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def random_expression(rng, kind):
    found = Expression(kind)
    known = [found.number(*rng.uniform(0.5, 2.0, size=3)) for _ in range(3)]
    for _ in range(int(rng.integers(1, 6))):
        op = rng.choice(["Add", "Sub", "Mul", "Div", "mean", "turned"])
        a, b = (known[k] for k in rng.integers(len(known), size=2))
        if op == "mean":
            known.append(found.mean(a))
        elif op == "turned":
            known.append(found.turned(a))
        elif op != "Div" or all(b[1]):
            known.append(found.binary(op, a, b))
    return found, known[-1], known[int(rng.integers(len(known)))]


def fractions_at(network, point):
    return [Fraction(int(value.p), int(value.q)) for value in lower_exactly(network).evaluate([point])[0]]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(25))
def test_generated_expressions_are_the_fractions_that_they_are(seed, kind):
    rng = np.random.default_rng(seed)
    found, factor, offset = random_expression(rng, kind)
    network = pf.load(found.model(factor[0], offset[0]))
    for point in ([1, 2, 3], [-1, Fraction(1, 3), 0]):
        exact = [max(Fraction(x), Fraction(0)) * f + o for x, f, o in zip(point, factor[1], offset[1], strict=True)]
        assert fractions_at(network, point) == exact
    # The program says how far it is off.
    program = lower(network)
    assert (program.rounding is None) == all(Fraction(float(v)) == v for v in (*factor[1], *offset[1]))
    # Another file that holds floats in their place is the same function exactly if these are the numbers.
    floats = Expression()
    other = floats.model(*(floats.number(*map(float, numbers))[0] for _, numbers in (factor, offset)))
    same = all(Fraction(float(value)) == value for _, numbers in (factor, offset) for value in numbers)
    assert pf.equivalent(network, other).word == ("equal" if same else "different")
    # Out and in again.
    assert pf.equivalent(network, network.to_onnx()).word == "equal"
    assert pf.equivalent(network, pf.load(network.to_torch(), input_shape=(3,))).word == "equal"


def root_between(number, bits=600):
    """Two fractions around a square root."""
    whole = isqrt((number.numerator * number.denominator) << (2 * bits))
    return Fraction(whole, number.denominator << bits), Fraction(whole + 1, number.denominator << bits)


@pytest.mark.parametrize("seed", range(10))
def test_roots_are_told_from_floats_next_to_them(seed):
    rng = np.random.default_rng(seed)
    found = Expression()
    argument = found.number(*rng.uniform(0.5, 2.0, size=3))
    other = found.number(*rng.uniform(0.5, 2.0, size=3))
    root = found.node("Sqrt", None, argument[0])
    factor = found.node("Mul", None, root[0], other[0])
    network = pf.load(found.model(factor[0]))
    ends = [[root * o for root in root_between(a)] for a, o in zip(argument[1], other[1], strict=True)]
    values = fractions_at(network, [1, 1, 1])
    assert all(abs(value - low) < Fraction(1, 2**190) for value, (low, _) in zip(values, ends, strict=True))
    assert "numbers that are no floats" in lower(network).rounding.words()
    floats = Expression()
    rounded = floats.model(floats.number(*[float(low) for low, _ in ends])[0])
    assert pf.equivalent(network, rounded).word == "different"
    box = pf.box(-1, 1)
    assert pf.equivalent(network, rounded, box, tolerance=1e-12).word == "equal"
    # The same numbers once more, in another order of steps.
    again = Expression()
    again.constants = [*found.constants]
    root = again.node("Sqrt", None, argument[0])
    assert pf.equivalent(network, again.model(again.node("Mul", None, other[0], root[0])[0])).word == "equal"
    # One bit further another root.
    bit = Expression()
    moved = bit.number(*[float(np.nextafter(float(a), 9)) for a in argument[1]])
    times = bit.number(*map(float, other[1]))
    root = bit.node("Sqrt", None, moved[0])
    assert pf.equivalent(network, bit.model(bit.node("Mul", None, root[0], times[0])[0])).word == "different"


def test_a_cast_of_a_constant_rounds():
    found = Expression()
    third = found.binary("Div", found.number(1, 1, 1), found.number(3, 3, 3))
    single = found.node("Cast", None, third[0], to=TensorProto.FLOAT)
    double = found.node("Cast", None, single[0], to=TensorProto.DOUBLE)
    network = pf.load(found.model(double[0]), strict=True)
    assert fractions_at(network, [1, 1, 1]) == [Fraction(float(np.float32(1 / 3)))] * 3
    # To the type that it has already, it is no cast.
    found = Expression(np.float32)
    third = found.binary("Div", found.number(1, 1, 1), found.number(3, 3, 3))
    same = found.node("Cast", None, third[0], to=TensorProto.FLOAT)
    assert fractions_at(pf.load(found.model(same[0])), [1, 1, 1]) == [Fraction(1, 3)] * 3


def test_steps_are_decided_by_the_numbers_and_noted_where_rounding_decides():
    """Ten times float32's 0.7 is less than 7, and 7 in float32; 0.75 is a float."""
    for number, noted in ((0.7, True), (0.75, False)):
        found = Expression(np.float32)
        product = found.binary("Mul", found.number(10, 10, 10), found.number(number, number, number))
        step = found.node("Floor", None, product[0])
        network = pf.load(found.model(step[0]))
        assert bool(network.notes) == noted
        if noted:
            assert "'v1' (Floor)" in network.notes[0] and "another result" in network.notes[0]
            with pytest.raises(pf.errors.NetworkError, match="strict=True"):
                pf.load(found.model(step[0]), strict=True)


def test_what_is_known_in_floats_only_is_noted():
    found = Expression()
    soft = found.node("Softmax", None, found.number(0.1, 0.2, 0.3)[0], axis=0)
    network = pf.load(found.model(soft[0]))
    assert "'v0' (Softmax): what it makes of constants is known in floats only" in network.notes[0]
    assert network.notes[0] in repr(network)


def test_constants_that_cancel_are_what_they_are():
    found = Expression()
    large = found.number(1e17, 1e17, 1e17)
    rest = found.binary("Sub", found.binary("Add", large, found.number(1, 2, 3)), large)
    network = pf.load(found.model(rest[0]))
    assert fractions_at(network, [1, 1, 1]) == [1, 2, 3]
    assert "cancel" in network.notes[0]


# -- torch


class Computing(nn.Module):
    """A module that computes its weight from numbers."""

    def __init__(self, compute, *numbers):
        super().__init__()
        self.compute = compute
        self.names = []
        for k, number in enumerate(numbers):
            self.register_buffer(f"n{k}", torch.tensor(number, dtype=torch.float64))
            self.names.append(f"n{k}")

    def forward(self, x):
        return torch.relu(x) * self.compute(*(getattr(self, name) for name in self.names))


def test_torch_computes_in_fractions():
    cases = {
        Fraction(1, 3): lambda a, b: a / b,
        Fraction(1, 9): lambda a, b: (a / b).square(),
        Fraction(4): lambda a, b: a + b,
        Fraction(2): lambda a, b: torch.stack([a, b]).mean(),
        Fraction(1, 30) * 3: lambda a, b: (a / (10 * b)) * b,
        Fraction(0.1) * 3: lambda a, b: 0.1 * b,
        Fraction(2, 1) / 2: lambda a, b: torch.stack([a, b]).var(correction=0),
    }
    for exact, compute in cases.items():
        network = pf.load(Computing(compute, 1.0, 3.0).eval(), input_shape=(1,), strict=True)
        assert fractions_at(network, [1]) == [exact]


def test_weight_norm_and_spectral_norm():
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)).double()
    spectral = nn.Sequential(nn.utils.parametrizations.spectral_norm(plain[0]), nn.ReLU(), plain[2]).eval()
    network = pf.load(spectral, strict=True)
    # The weight over u . W v, a number that no float holds.
    part = spectral[0].parametrizations.weight
    W, u, v = (np.vectorize(Fraction)(t.detach().numpy()) for t in (part.original, part[0]._u, part[0]._v))
    assert fractions_at(pf.load(spectral[0]), [1, 1]) == [
        sum(row) / (u @ W @ v) + Fraction(b) for row, b in zip(W, spectral[0].bias.tolist(), strict=True)
    ]
    assert pf.equivalent(network, network.to_onnx()).word == "equal"
    normal = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3).double()).eval()
    loaded = pf.load(normal, strict=True)
    rounded = nn.Linear(2, 3).double()
    with torch.no_grad():
        rounded.weight[:], rounded.bias[:] = normal.weight, normal.bias
    assert pf.equivalent(loaded, normal).word == "equal"
    assert pf.equivalent(loaded, rounded).word == "different"
    assert pf.equivalent(loaded, rounded, pf.box(-1, 1), tolerance=1e-12).word == "equal"


def test_biases_of_recurrent_layers_are_added_without_rounding():
    torch.manual_seed(0)
    layer = nn.RNN(1, 2, nonlinearity="relu", batch_first=True).double().eval()
    network = pf.load(layer, input_shape=(1, 1))
    sums = [
        Fraction(a) + Fraction(b) for a, b in zip(layer.bias_ih_l0.tolist(), layer.bias_hh_l0.tolist(), strict=True)
    ]
    assert fractions_at(network, [0])[:2] == [max(value, Fraction(0)) for value in sums]


def test_what_einsum_and_sums_add_up_is_not_rounded():
    tiny = 2.0**-60

    class Sums(nn.Module):
        def forward(self, x):
            return torch.relu(torch.einsum("bi,ij->b", x, torch.tensor([[1.0, tiny, tiny]], dtype=x.dtype)))

    assert fractions_at(pf.load(Sums(), input_shape=(1,)), [3]) == [3 + 6 * Fraction(tiny)]
    found = Expression()
    terms = [found.number(*[value] * 3)[0] for value in (1.0, tiny, tiny)]
    model = found.model(found.number(1, 1, 1)[0])
    model.graph.node[-1].op_type = "Sum"
    model.graph.node[-1].input.extend(terms)
    assert fractions_at(pf.load(model), [3, 3, 3]) == [4 + 2 * Fraction(tiny)] * 3


def test_what_is_added_in_one_place_is_not_rounded():
    """Three times a tenth, in one place."""

    class Added(nn.Module):
        def forward(self, x):
            places = torch.tensor([0, 0, 0])
            once = torch.zeros(len(x), 2, dtype=x.dtype).index_add(1, places, x.expand(-1, 3), alpha=0.1)
            tenths = torch.full((len(x), 3), 0.1, dtype=x.dtype)
            return torch.relu(once.index_add(1, places, tenths))

    assert fractions_at(pf.load(Added(), input_shape=(1,)), [1]) == [6 * Fraction(0.1), 0]


class HalfWay(nn.Module):  # type: ignore[misc]
    """Rounds what passes to a coarser type, and back."""

    def forward(self, x: Any) -> Any:
        return torch.relu(x.to(torch.float16).to(torch.float32))


def test_a_cast_of_what_passes_is_noted() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 2), HalfWay(), nn.Linear(2, 1))
    file = io.BytesIO()
    torch.onnx.export(module, (torch.zeros(1, 2),), file, dynamo=False)
    for model in (module, onnx.load_from_string(file.getvalue())):
        (note,) = pf.load(model).notes
        assert "rounds to float16" in note and "another function" in note
    assert not pf.load(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)).half()).notes
