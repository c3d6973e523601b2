"""Torch modules that cannot be read: each error names the node and says why."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.network import load

nn = torch.nn
F = nn.functional


class Custom(nn.Module):  # type: ignore[name-defined,misc]
    def __init__(self, forward: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.first = nn.Linear(4, 6)
        self.body = forward

    def forward(self, x: Any) -> Any:
        return self.body(self.first, x)


@pytest.mark.parametrize(
    ("forward", "node", "op", "reason"),
    [
        (lambda f, x: f(x) * f(x), "mul", "mul", "product of two computed values"),
        (lambda f, x: f(x) / (1 + f(x).abs()), "div", "div", "computed denominator"),
        (lambda f, x: 1 / f(x), "reciprocal", "reciprocal", "not piecewise linear"),
        (lambda f, x: f(x) @ f(x).T, "matmul", "matmul", "batch axis"),
        (lambda f, x: f(x).unsqueeze(1) @ f(x).unsqueeze(2), "matmul", "matmul", "two computed values"),
        (lambda f, x: f(x) - f(x).mean(0), "mean", "mean", "samples of a batch"),
        (lambda f, x: f(x).view(-1, 3).mean(0, keepdim=True), "view", "view", "batch axis"),
        (lambda f, x: torch.cat([f(x), f(x)]), "cat", "cat", "batch axis"),
        (lambda f, x: f(x).int(), "_to_copy", "_to_copy", "cast to torch.int32"),
        (lambda f, x: torch.where(f(x) > 0, f(x), 1.0), "where", "where", "jumps"),
        (lambda f, x: torch.where(f(x) > 0, f(x).flip(1), 0.0), "where", "where", "may jump"),
        (lambda f, x: f(x) * (f(x) > 1), "mul", "mul", "jumps"),
        (lambda f, x: (f(x) > 0) * (f(x) < 1), "mul", "mul", "product of two comparisons"),
        (lambda f, x: f(x) + (f(x) > 0), "add", "add", "only where(h > c, a, b)"),
        (lambda f, x: f(x).masked_fill(f(x) < 0, 1.0), "masked_fill", "masked_fill", "jumps"),
        (lambda f, x: f(x).norm(dim=1), "linalg_vector_norm", "linalg_vector_norm", "order 2"),
        (lambda f, x: f(x).std(1), "std", "std", "roots"),
        (lambda f, x: f(x).argsort(1).double(), "argsort", "argsort", "jumps"),
        (lambda f, x: f(x).repeat(1, 20).sort(1)[0], "sort", "sort", "120 entries"),
        (lambda f, x: f(x).sort(1)[1].double(), "sort", "sort", "place of a maximum"),
        (lambda f, x: torch.cdist(f(x), torch.ones(2, 6).double()), "cdist", "cdist", "abs().sum(-1)"),
        (lambda f, x: torch.einsum("bi,bi->b", f(x), f(x)), "einsum", "einsum", "two computed values"),
        (lambda f, x: torch.einsum("bi,ij->ij", f(x), torch.ones(6, 2).double()), "einsum", "einsum", "batch axis"),
        (lambda f, x: F.layer_norm(f(x), [6]), "layer_norm", "layer_norm", "deviation"),
        (lambda f, x: F.hardshrink(f(x)), "hardshrink", "hardshrink", "jumps"),
        (lambda f, x: F.threshold(f(x), 1.0, 0.0), "threshold", "threshold", "jumps"),
        (lambda f, x: F.rrelu(f(x), training=True), "rrelu", "rrelu", "random"),
        (lambda f, x: f(x) + torch.rand(6), "rand", "rand", "random"),
        (lambda f, x: F.dropout(f(x), training=True), "native_dropout", "native_dropout", "random"),
        (lambda f, x: f(x).tanh().relu(), "tanh", "tanh", "not piecewise linear"),
        (lambda f, x: f(x).softmax(1) * 2, "softmax", "softmax", "'mul' (mul) reads it"),
        (lambda f, x: f(x).round(), "round_1", "round", "docs/networks.md"),
    ],
)
def test_ops_that_are_refused(forward: Any, node: str, op: str, reason: str) -> None:
    with pytest.raises(UnsupportedOpError) as caught:
        load(Custom(forward).double())
    message = str(caught.value)
    assert message.startswith(f"node {node!r} ({op})"), message
    assert reason in message and "docs/networks.md" in message


@pytest.mark.parametrize(
    ("layer", "op"),
    [
        (nn.GELU(), "gelu"),
        (nn.Tanh(), "tanh"),
        (nn.Softmax(1), "softmax"),
        (nn.SiLU(), "silu"),
        (nn.ELU(), "elu"),
    ],
)
def test_layers_in_the_middle_are_named_by_their_path(layer: Any, op: str) -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.Sequential(layer), nn.Linear(3, 1))
    with pytest.raises(UnsupportedOpError, match=rf"node '1\.0' \({op}\)"):
        load(module)


def test_the_error_says_where_to_look() -> None:
    with pytest.raises(UnsupportedOpError, match=r"docs/networks\.md"):
        load(nn.Sequential(nn.Linear(2, 3), nn.GELU()))


def test_batch_statistics_are_refused() -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3, track_running_stats=False))
    with pytest.raises(UnsupportedOpError, match=r"node '1'.*batch's own statistics"):
        load(module)


@pytest.mark.parametrize("module", [nn.ReLU(), nn.Sequential(nn.Conv1d(1, 1, 1), nn.Linear(3, 1))])
def test_an_unknown_input_shape_says_what_to_pass(module: Any) -> None:
    with pytest.raises(NetworkError, match=rf"{type(module).__name__}.*pass input_shape="):
        load(module)


def test_a_wrong_input_shape_is_quoted() -> None:
    with pytest.raises(NetworkError, match=r"\(7, 1, 5\).*pass input_shape="):
        load(nn.Sequential(nn.Flatten(), nn.Linear(9, 1)), input_shape=(1, 5))


@pytest.mark.parametrize("kind", ["if", "while", "item"])
def test_decisions_by_numbers_quote_the_line(kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    def decides(f: Any, x: Any) -> Any:
        if x.sum() > 0:
            return f(x)
        return -f(x)

    def repeats(f: Any, x: Any) -> Any:
        while x.max() > 1:
            x = x / 2
        return f(x)

    def counts(f: Any, x: Any) -> Any:
        return f(x) * int(x.sum())

    forward = {"if": decides, "while": repeats, "item": counts}[kind]
    with pytest.raises(NetworkError) as caught:
        load(Custom(forward).double())
    message = str(caught.value)
    if kind != "item":
        line = "if x.sum() > 0:" if kind == "if" else "while x.max() > 1:"
        assert f"is decided at `{line}` by numbers that it computed" in message and "torch.where" in message
    assert "input_shape" not in message
    # Torch would print whole graphs.
    assert capfd.readouterr() == ("", "")


def test_lazy_layers_without_weights() -> None:
    with pytest.raises(NetworkError, match="LazyLinear has lazy layers"):
        load(nn.LazyLinear(3))


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
def test_weights_that_are_computed_say_how_to_make_them_parameters() -> None:
    import torch.nn.utils as utils
    from torch.nn.utils import prune

    pruned, normed = (nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)) for _ in range(2))
    prune.l1_unstructured(pruned[2], "weight", amount=0.3)
    with pytest.raises(NetworkError, match=r"does not copy '2\.weight'.*prune\.remove\(layer, 'weight'\)"):
        load(pruned)
    utils.weight_norm(normed[0])
    with pytest.raises(NetworkError, match=r"does not copy '0\.weight'.*remove_weight_norm\(layer\)"):
        load(normed)
    prune.remove(pruned[2], "weight")
    utils.remove_weight_norm(normed[0])
    assert load(pruned).output_dim == load(normed).output_dim == 1


def test_samples_that_depend_on_the_batch_size() -> None:
    with pytest.raises(NetworkError, match="Custom gives other outputs for 3 samples"):
        load(Custom(lambda f, x: f(x) / x.size(0)))


def test_nan_weights_name_the_layer() -> None:
    module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    with torch.no_grad():
        module[2].weight[0, 1] = float("nan")
    with pytest.raises(NetworkError, match=r"node '2' \(Linear\) contains nan"):
        load(module)


def test_torchscript_is_refused() -> None:
    with pytest.raises(NetworkError, match="TorchScript"):
        load(torch.jit.trace(nn.Linear(2, 1), torch.zeros(1, 2)))


def test_a_file_that_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "broken.pt2"
    path.write_text("hello")
    with pytest.raises(NetworkError, match=r"broken\.pt2"):
        load(path)


def test_an_archive_tells_its_own_input_shape(tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    path.write_text("")
    with pytest.raises(NetworkError, match=r"model\.pt2.*tells its own"):
        load(path, input_shape=(3,))


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.path), "w")


def test_an_archive_is_never_unpickled(tmp_path: Path) -> None:
    plain, trapped, trap = tmp_path / "plain.pt2", tmp_path / "trapped.pt2", tmp_path / "trap"
    torch.export.save(torch.export.export(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), (torch.zeros(3, 2),)), plain)
    inputs = io.BytesIO()
    torch.save(Trap(trap), inputs)
    with zipfile.ZipFile(plain) as before, zipfile.ZipFile(trapped, "w") as after:
        for name in before.namelist():
            after.writestr(name, inputs.getvalue() if "sample_inputs" in name else before.read(name))
    with pytest.raises(NetworkError, match=r"trapped\.pt2.*pickled objects, which are never read"):
        load(trapped)
    assert not trap.exists()
    with zipfile.ZipFile(trapped, "a") as after:
        after.writestr("plain/data/aotinductor/model/code.so", b"x")
    with pytest.raises(NetworkError, match=r"code\.so.*no part of a plain network"):
        load(trapped)
