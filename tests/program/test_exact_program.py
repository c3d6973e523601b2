"""Programs in rationals: the same function as floats say, without their rounding, and back to networks with names."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

import polyfold as pf
from helpers.shared_files import MODELS
from polyfold.program.exact_program import from_layers, from_program, lower_exactly
from polyfold.program.lower.lower import lower, written_out
from polyfold.program.to_network import to_network
from polyfold.testing.cases import generated_case

SMALL = (
    "acasxu_1_1",
    "cersyve_double_integrator_finetune_inv",
    "cersyve_double_integrator_pretrain_con",
    "marabou_KJ_TinyTaxiNet",
    "marabou_linear2-3_bn1-linear3-1",
    "marabou_mnist2x10",
    "marabou_multiInput_add",
    "marabou_oneInput_twoBranches",
    "vnn_test_nano",
)


@pytest.mark.shared("models")
@pytest.mark.parametrize("name", SMALL)
def test_models_there_and_back(name):
    network = pf.load(MODELS / f"{name}.onnx")
    exact = lower_exactly(network)
    back = to_network(exact)
    X = np.random.default_rng(0).normal(size=(200, network.input_dim))
    np.testing.assert_allclose(back(X), network(X), rtol=0, atol=1e-9 * (1 + np.abs(network(X)).max()))
    assert back.outputs == network.outputs and [port.name for port in back.inputs] == [p.name for p in network.inputs]
    assert [back.shapes[name] for name in back.outputs] == [network.shapes[name] for name in network.outputs]
    if exact.in_floats:
        again = lower_exactly(back)
        assert again.digest == exact.digest
        lowered = written_out(lower(network))
        assert lowered.rounded or exact.to_program().digest == lowered.digest


@pytest.mark.parametrize("seed", range(40))
def test_generated_programs(seed):
    """Programs with skips and any slopes, at points of few digits, against sums of fractions."""
    program = generated_case(seed).program
    exact = from_program(program)
    rng = np.random.default_rng(seed)
    X = rng.integers(-16, 17, size=(3, program.input_dim)) / 8
    expected = [[*_outputs(program, [Fraction(x) for x in row])] for row in X.tolist()]
    found = exact.evaluate(X)
    assert [[Fraction(int(v.p), int(v.q)) for v in row] for row in found.tolist()] == expected
    assert lower_exactly(to_network(exact)).evaluate(X).tolist() == found.tolist()


def _outputs(program, x):
    sources = [x]
    for stage in program.stages:
        z = _affine(stage.affine, sources)
        slopes = zip(z, stage.slope_on.tolist(), stage.slope_off.tolist(), strict=True)
        sources.append([value * Fraction(on if value > 0 else off) for value, on, off in slopes])
    return _affine(program.output, sources)


def _affine(affine, sources):
    found = [Fraction(b) for b in affine.bias.tolist()]
    for block in affine.blocks:
        for i, row in enumerate(block.weight.tolist()):
            found[i] += sum((Fraction(w) * v for w, v in zip(row, sources[block.source], strict=True)), Fraction(0))
    return found


def test_linear_steps_are_put_together_without_rounding():
    torch = pytest.importorskip("torch")
    two = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)).double()
    with torch.no_grad():
        two[0].weight[:], two[1].weight[:] = 3.0, 0.1
    network = pf.load(two)
    assert lower(network).rounded
    exact = lower_exactly(network)
    assert exact.output.terms[0][0, 0] == 3 * fmpq(*(0.1).as_integer_ratio()) and not exact.in_floats


def test_branches_keep_their_names():
    torch = pytest.importorskip("torch")

    class Branches(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.left, self.right, self.last = torch.nn.Linear(2, 3), torch.nn.Linear(2, 2), torch.nn.Linear(5, 1)
            self.one, self.other = torch.nn.ReLU(), torch.nn.LeakyReLU(0.5)

        def forward(self, x):
            return self.last(torch.cat([self.one(self.left(x)), self.other(self.right(x))], dim=1))

    network = pf.load(Branches(), input_shape=(2,))
    back = to_network(lower_exactly(network))
    switches = {node.name for node in back.nodes if type(node.op).__name__ == "Rectify"}
    assert switches == {node.name for node in network.nodes if type(node.op).__name__ == "Rectify"}
    assert lower_exactly(back).digest == lower_exactly(network).digest
    module = back.to_torch()
    X = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_allclose(module(torch.tensor(X)).detach().numpy(), network(X), rtol=0, atol=1e-12)


def test_leaky_layers_from_rationals():
    program = from_layers([([[1], [1]], [0, fmpq(1, 3)]), ([[1, -1]], [0])], slope_off=fmpq(1, 7))
    assert program.evaluate([[-1]])[0, 0] == fmpq(-1, 7) - fmpq(-2, 3) * fmpq(1, 7)


def test_shapes_are_checked():
    good = from_layers([([[1.0]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(pf.PolyfoldError, match="matrix of shape"):
        from_layers([([[1.0]], [0.0]), ([[1.0, 2.0]], [0.0])])
    assert good.gates == 1 and good.widths == (1, 1)
