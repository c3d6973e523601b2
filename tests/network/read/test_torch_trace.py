"""A live module is traced once; whatever changes in it is seen."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import polyfold as pf
from polyfold.network.read import torch_trace

POINTS = np.random.default_rng(0).normal(size=(40, 3)) * 3


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that torch.export is called with, one entry per call."""
    monkeypatch.setattr(torch_trace, "_remembered", OrderedDict())
    called: list[str] = []
    export = torch.export.export

    def counted(module: Any, *args: Any, **kwargs: Any) -> Any:
        called.append(type(module).__name__)
        return export(module, *args, **kwargs)

    monkeypatch.setattr(torch.export, "export", counted)
    return called


def _net(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2)).eval()


def _agrees(module: Any, network: pf.Network) -> None:
    with torch.no_grad():
        expected = copy.deepcopy(module).double().eval()(torch.from_numpy(POINTS)).numpy()
    np.testing.assert_allclose(network(POINTS), expected, rtol=1e-9, atol=1e-9)


class Odd(torch.nn.Module):
    """A forward() that many things decide."""

    scale = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.one, self.two = torch.nn.ReLU(), torch.nn.ReLU()
        self.last = torch.nn.Linear(4, 2)
        self.register_buffer("mask", torch.ones(4))
        self.offset = torch.tensor([0.5, -0.5])
        self.table = np.array([1.0, 2.0])
        self.leaky = False
        self.bounds = [-1.0, 6.0]
        self.activation: Callable[[Any], Any] = torch.relu
        self.takes_second = False
        self.looks_inside = False

    def forward(self, x: Any) -> Any:
        y = self.first(x) * self.mask * self.scale
        y = torch.nn.functional.leaky_relu(y) if self.leaky else self.activation(y)
        y = torch.clamp(y, *self.bounds)
        y = self.two(0.5 - y) if self.takes_second else self.one(0.5 - y)
        y = self.last(y)
        if self.looks_inside and (x.detach().numpy() >= -1e-9).all():
            return y + 0.0 * y
        return y + self.offset.to(y.dtype) + torch.from_numpy(self.table).to(y.dtype)


def _odd() -> Any:
    torch.manual_seed(1)
    return Odd().eval()


def test_traced_once(traces: list[str]) -> None:
    module = _net()
    first, second = pf.load(module), pf.load(module)
    assert traces == ["Sequential"]
    assert [node.name for node in first.nodes] == [node.name for node in second.nodes]
    assert (first(POINTS) == second(POINTS)).all()


def test_questions_trace_once(traces: list[str]) -> None:
    module = _net()
    pf.unfold(module, pf.box(-1, 1))
    pf.count(module, pf.box(-1, 1))
    pf.local(module, [[0.1, 0.2, 0.3]])
    assert traces == ["Sequential"]


def test_weights_are_read_anew(traces: list[str]) -> None:
    module = _net()
    optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
    seen = []
    for _ in range(3):
        network = pf.load(module)
        _agrees(module, network)
        seen.append(network(POINTS))
        optimiser.zero_grad()
        module(torch.ones(2, 3)).sum().backward()
        optimiser.step()
    assert not np.allclose(seen[0], seen[1]) and not np.allclose(seen[1], seen[2])
    assert traces == ["Sequential"]


def test_weights_may_be_other_tensors(traces: list[str]) -> None:
    module = _net()
    pf.load(module)
    module[0].weight = torch.nn.Parameter(torch.full((5, 3), 0.25))
    module.load_state_dict({name: tensor * 2 for name, tensor in module.state_dict().items()})
    _agrees(module, pf.load(module))
    module.requires_grad_(False)
    _agrees(module, pf.load(module))
    assert traces == ["Sequential"]


def test_the_same_network_as_without_memory(traces: list[str]) -> None:
    module = _odd()
    pf.load(module)
    with torch.no_grad():
        module.first.weight *= 1.5
        module.mask[2] = 0.0
    again = pf.load(module)
    torch_trace._remembered.clear()
    anew = pf.load(module)
    assert len(traces) == 2
    assert pf.equivalent(again, anew).word == "equal" and [n.name for n in again.nodes] == [n.name for n in anew.nodes]


def _flag(module: Any) -> None:
    module.leaky = True


def _list(module: Any) -> None:
    module.bounds[1] = 0.125


def _function(module: Any) -> None:
    module.activation = torch.abs


def _class_attribute(module: Any) -> None:
    type(module).scale = 3.0


def _constant_tensor(module: Any) -> None:
    module.offset.add_(1.0)


def _array(module: Any) -> None:
    module.table[0] = np.nextafter(1.0, 2.0)


def _layer(module: Any) -> None:
    module.one = torch.nn.LeakyReLU()


def _shape(module: Any) -> None:
    module.first, module.last = torch.nn.Linear(3, 6), torch.nn.Linear(6, 2)
    module.mask = torch.ones(6)


def _buffer_shape(module: Any) -> None:
    module.mask = torch.tensor([2.0])


def _pre_hook(module: Any) -> None:
    module.last.register_forward_pre_hook(lambda part, given: (torch.relu(given[0] - 1.0),))


def _hook(module: Any) -> None:
    module.first.register_forward_hook(lambda part, given, result: -result)


def _method(module: Any) -> None:
    module.forward = lambda x: module_free(x)


def module_free(x: Any) -> Any:
    return torch.relu(x[:, :2])


@pytest.mark.parametrize(
    "change",
    [
        _flag,
        _list,
        _function,
        _class_attribute,
        _constant_tensor,
        _array,
        _layer,
        _shape,
        _buffer_shape,
        _pre_hook,
        _hook,
        _method,
    ],
)
def test_changes_are_seen(change: Callable[[Any], None], traces: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Odd, "scale", 2.0)
    module = _odd()
    before = pf.load(module)
    _agrees(module, before)
    change(module)
    after = pf.load(module)
    _agrees(module, after)
    assert traces == ["Odd", "Odd"]
    assert pf.equivalent(before, after, pf.box(-3, 3)).word == "different"
    pf.load(module)
    assert traces == ["Odd", "Odd"], "the new trace is remembered"


def test_hook_that_comes_and_goes(traces: list[str]) -> None:
    module = _net()
    before = pf.load(module)
    handle = module[1].register_forward_hook(lambda part, given, result: result * 3.0)
    _agrees(module, pf.load(module))
    handle.remove()
    assert (pf.load(module)(POINTS) == before(POINTS)).all()


def test_names_are_those_of_now() -> None:
    module = _odd()
    assert "one" in [node.name for node in pf.load(module).nodes]
    module.takes_second = True
    names = [node.name for node in pf.load(module).nodes]
    assert "two" in names and "one" not in names


def test_functions_that_become_the_same_operators(traces: list[str]) -> None:
    class Sorted(torch.nn.Module):
        how = "sort"

        def forward(self, x: Any) -> Any:
            return torch.sort(x)[1] if self.how == "sort" else torch.argsort(x)

    module = Sorted().eval()
    for how in ("sort", "argsort", "sort"):
        module.how = how
        with pytest.raises(pf.PolyfoldError, match=rf"^node '{how}' \({how}\)"):
            pf.load(module, input_shape=3)


def test_masks_that_select_more(traces: list[str]) -> None:
    class Masked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mask", torch.tensor([True, False, True]))

        def forward(self, x: Any) -> Any:
            return torch.relu(x[:, self.mask].sum(dim=1, keepdim=True))

    module = Masked().eval()
    for mask in ([True, False, True], [False, True, True], [True, True, True], [False, True, False]):
        module.mask.copy_(torch.tensor(mask))
        _agrees(module, pf.load(module, input_shape=3))
    assert len(traces) == 3, "one for each number of inputs that are selected"


def test_decisions_by_numbers_are_refused_the_second_time_too() -> None:
    module = _odd()
    pf.load(module)
    module.looks_inside = True
    with pytest.raises(pf.PolyfoldError, match="cannot trace it"):
        pf.load(module)


def test_tied_weights(traces: list[str]) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU(), torch.nn.Linear(3, 3)).eval()
    module[2].weight = module[0].weight
    pf.load(module)
    with torch.no_grad():
        module[0].weight.mul_(-2.0)
    _agrees(module, pf.load(module))
    assert len(traces) == 1
    module[2].weight = torch.nn.Parameter(torch.eye(3))
    _agrees(module, pf.load(module))
    assert len(traces) == 2


def test_computed_weights(traces: list[str]) -> None:
    module = torch.nn.Sequential(torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 4)), torch.nn.ReLU())
    module.eval()
    pf.load(module, input_shape=3)
    with torch.no_grad():
        module[0].parametrizations.weight.original0.mul_(2.0)
    _agrees(module, pf.load(module, input_shape=3))
    assert len(traces) == 1


def test_until_and_shapes(traces: list[str]) -> None:
    module = torch.nn.Sequential(torch.nn.Conv1d(1, 2, 2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Softmax(-1))
    module.eval()
    whole, part = pf.load(module, input_shape=(1, 4)), pf.load(module, input_shape=(1, 4), until="1")
    assert len(traces) == 1
    assert whole.head is not None and part.head is None and part.output_dim == 6
    assert pf.load(module, input_shape=(1, 5)).input_dim == 5
    assert pf.load(module, input_shape=(1, 4)).input_dim == 4
    assert len(traces) == 2


def test_training_mode(traces: list[str]) -> None:
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(), torch.nn.ReLU()).eval()
    assert not pf.load(module).notes
    module.train()
    assert "training mode" in pf.load(module).notes[0]
    module.eval()
    assert not pf.load(module).notes
    assert len(traces) == 1


def test_single_samples(traces: list[str]) -> None:
    class Merged(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return torch.relu(self.layer(x.reshape(-1, 3))).reshape(-1, 2)

    module = Merged().eval()
    pf.load(module)
    count = len(traces)
    pf.load(module)
    assert len(traces) == count


def test_copies_and_modules_of_the_same_kind(traces: list[str]) -> None:
    one, other = _net(0), _net(1)
    _agrees(one, pf.load(one))
    _agrees(other, pf.load(other))
    _agrees(one, pf.load(copy.deepcopy(one)))
    assert len(traces) == 1


def test_only_the_last_are_remembered(traces: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_trace, "REMEMBERED", 2)
    modules = [torch.nn.Linear(3, width).eval() for width in (1, 2, 3)]
    for module in [*modules, modules[2], modules[1], modules[0]]:
        pf.load(module)
    assert len(traces) == 4 and len(torch_trace._remembered) == 2


def test_weights_are_not_kept(traces: list[str]) -> None:
    pf.load(_net())
    (remembered,) = torch_trace._remembered.values()
    assert not remembered.lifted


def test_recordings_trace_once(traces: list[str]) -> None:
    """Weights that are computed with have no template: the module is read with each snapshot's weights."""
    module = torch.nn.Sequential(torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 4)), torch.nn.ReLU())
    recorder = pf.training.record(module, input_shape=3)
    for _ in range(4):
        recorder.step()
        with torch.no_grad():
            module[0].parametrizations.weight.original0.mul_(1.5)
    sizes = [np.abs(network(POINTS)).max() for network in recorder.recording]
    assert len(sizes) == 5 and sizes[4] > 3 * sizes[0]
    assert len(traces) == 1


class TestCompiled:
    def test_module(self, traces: list[str]) -> None:
        module = _net()
        compiled = torch.compile(module)
        network = pf.load(compiled)
        assert [node.name for node in network.nodes] == ["0", "1", "2"]
        pf.load(compiled)
        pf.load(module)
        assert traces == ["Sequential"]
        _agrees(module, network)

    def test_part(self, traces: list[str]) -> None:
        module = torch.nn.Sequential(torch.compile(_net()), torch.nn.ReLU(), torch.nn.Dropout()).train()
        network = pf.load(module, input_shape=3)
        assert [node.name for node in network.nodes] == ["0.0", "0.1", "0.2", "1"]
        assert "'2' (Dropout)" in network.notes[0]

    def test_function(self, monkeypatch: pytest.MonkeyPatch) -> None:
        @torch.compile
        def bend(x: Any) -> Any:
            return torch.relu(x) - 1.0

        class Module(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = torch.nn.Linear(3, 2)

            def forward(self, x: Any) -> Any:
                return bend(self.layer(x))

        network = pf.load(Module().eval())
        assert network.output_dim == 2

    @pytest.mark.parametrize("inside", [False, True])
    def test_hooks_of_the_compiled_module_are_refused(self, inside: bool) -> None:
        """Copies lose them."""
        compiled = torch.compile(_net())
        module = torch.nn.Sequential(compiled, torch.nn.ReLU()).eval() if inside else compiled
        pf.load(module, input_shape=3)
        compiled.register_forward_hook(lambda part, given, result: 2.0 * result)
        with pytest.raises(pf.PolyfoldError, match="register them on the module that was compiled"):
            pf.load(module, input_shape=3)
