"""Heads are read from every framework, written to every framework, and evaluated as the original does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from polyfold.errors import NetworkError, UnsupportedOpError
from polyfold.network.head import Head, HeadOp, OutputHead, head_from, head_json, joined
from polyfold.network.load import load

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")
onnx_parser = pytest.importorskip("onnx.parser")


class Ended(torch.nn.Module):  # type: ignore[misc]
    """Four inputs, six scores, and anything behind them."""

    def __init__(self, end: Callable[[Any], Any]) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last, self.end = torch.nn.Linear(4, 5), torch.nn.Linear(5, 6), end

    def forward(self, x: Any) -> Any:
        return self.end(self.last(torch.relu(self.first(x))))


ENDS: dict[str, Callable[[Any], Any]] = {
    "softmax over 6 scores": lambda z: z.softmax(1),
    "log-softmax over 6 scores": lambda z: z.log_softmax(-1),
    "sigmoid of 6 scores": torch.sigmoid,
    "log-sigmoid of 6 scores": torch.nn.functional.logsigmoid,
    "argmax over 6 scores": lambda z: z.argmax(1, keepdim=True),
    "softmax over 2 scores, in each of 3 groups": lambda z: z.reshape(-1, 2, 3).softmax(1),
    "softmax over 3 scores, in each of 2 groups": lambda z: z.reshape(-1, 2, 3).softmax(2).flatten(1).unsqueeze(2),
    "argmax over 2 scores, in each of 3 groups": lambda z: z.reshape(-1, 2, 3).argmax(1).to(torch.uint8),
    "softmax over 6 scores, then argmax over 6 scores": lambda z: z.softmax(1).argmax(1),
    "argmax over 3 scores, in each of 2 groups, then softmax over 2 scores": lambda z: (
        z.reshape(-1, 2, 3).argmax(2).double().softmax(1)
    ),
    "output 0: softmax over 6 scores; output 1: no head": lambda z: (z.softmax(1), z),
    "output 0: no head; output 1: sigmoid of 6 scores; output 2: argmax over 6 scores": lambda z: (
        z.relu(),
        z.sigmoid(),
        z.argmax(1),
    ),
}


def flat(outputs: Any) -> np.ndarray[Any, Any]:
    parts = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    return np.concatenate([np.asarray(part, dtype=np.float64).reshape(20, -1) for part in parts], axis=1)


@pytest.mark.parametrize("words", ENDS)
def test_torch_heads_go_in_and_out(words: str) -> None:
    module = Ended(ENDS[words]).double().eval()
    network = load(module)
    assert str(network.head) == words and words in repr(network)
    X = np.random.default_rng(0).normal(size=(20, 4)) * 3
    with torch.no_grad():
        original = module(torch.as_tensor(X))
        written = network.to_torch()(torch.as_tensor(X))
    np.testing.assert_allclose(network.model_outputs(X), flat(original), atol=1e-12)
    np.testing.assert_allclose(flat(written), flat(original), atol=1e-12)
    session = onnxruntime.InferenceSession(network.to_onnx().SerializeToString())
    by_runtime = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_allclose(flat(by_runtime), flat(original), atol=1e-12)
    shapes = [tuple(part.shape) for part in (original if isinstance(original, tuple) else [original])]
    assert [part.shape for part in by_runtime] == shapes
    assert head_from(head_json(network.head)) == network.head
    if "log-sigmoid" not in words:
        assert load(network.to_onnx()).head == network.head
    if words.startswith("softmax over 6"):
        assert load(network.to_torch()).head == network.head


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lambda z: z.softmax(0), "batch axis"),
        (lambda z: z.argmax(), "batch axis"),
        (lambda z: torch.sigmoid(z).long(), "not continuous"),
        (lambda z: z.argmax(1).bool(), "not continuous"),
        (lambda z: z.softmax(1)[:, :2], "reads it"),
        (lambda z: 1 - z.sigmoid(), "reads it"),
    ],
)
def test_what_is_no_head_is_refused(end: Callable[[Any], Any], reason: str) -> None:
    with pytest.raises(UnsupportedOpError, match=reason):
        load(Ended(end))


@pytest.mark.parametrize(
    ("opset", "op", "words"),
    [
        (11, "Softmax <axis = 1> (x)", "softmax over 6 scores"),
        (11, "Softmax <axis = 2> (x)", "softmax over 3 scores, in each of 2 groups"),
        (17, "Softmax <axis = 1> (x)", "softmax over 2 scores, in each of 3 groups"),
        (17, "LogSoftmax (x)", "log-softmax over 3 scores, in each of 2 groups"),
        (17, "Hardmax (x)", "hardmax over 3 scores, in each of 2 groups"),
        (17, "ArgMax <axis = 1> (x)", "argmax over 2 scores, in each of 3 groups"),
        (
            17,
            "ArgMax <axis = 2, keepdims = 0, select_last_index = 1> (x)",
            "argmax over 3 scores, the last one where several are largest, in each of 2 groups",
        ),
    ],
)
def test_onnx_versions_and_options(opset: int, op: str, words: str) -> None:
    kind = "int64" if "ArgMax" in op else "float"
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[N,2,3] x) => ({kind}[A,B,C] y) {{ y = {op} }}'
    model = onnx_parser.parse_model(text)
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    network = load(model)
    assert str(network.head) == words
    # Ties, too.
    X = np.random.default_rng(0).integers(-1, 2, size=(30, 2, 3)).astype(np.float32)
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": X})[0]
    np.testing.assert_allclose(network.model_outputs(X), expected.reshape(30, -1), atol=1e-6)
    written = onnxruntime.InferenceSession(network.to_onnx(dtype=np.float32).SerializeToString())
    np.testing.assert_allclose(written.run(None, {"x": X})[0], expected, atol=1e-6)
    with torch.no_grad():
        by_torch = network.to_torch()(torch.as_tensor(X))
    np.testing.assert_allclose(by_torch.numpy(), expected, atol=1e-6)


def test_a_fixed_batch_of_one_may_be_a_heads_axis() -> None:
    model = onnx_parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,4] x) => (int64[1,4] y) { r = Relu (x) y = ArgMax (r) }'
    )
    assert str(load(model).head) == "argmax over 1 score, in each of 4 groups"
    open_batch = copy.deepcopy(model)
    for item in (open_batch.graph.input[0], open_batch.graph.output[0]):
        item.type.tensor_type.shape.dim[0].dim_param = "N"
    with pytest.raises(UnsupportedOpError, match="batch axis"):
        load(open_batch)


def test_heads_are_values() -> None:
    one = Head((OutputHead(3, (HeadOp("softmax", (1, 3, 1), name="a"),), (3,)),))
    other = Head((OutputHead(3, (HeadOp("softmax", (1, 3, 1), name="b"),), (3, 1)),))
    assert one == other and hash(one) == hash(other) and one.text == other.text
    assert HeadOp("argmax", (2, 1, 3)) == HeadOp("argmax", (6, 1, 1))
    both = joined(one, 3, None, 2)
    assert both is not None and both.score_dim == 5 and joined(None, 1, None, 1) is None
    assert head_from(None) is None and Head.of([OutputHead(1, (), (1,))]) is None
    with pytest.raises(NetworkError, match="does not fit the outputs"):
        replace(load([([[1.0]], [0.0])]), head=one)
    with pytest.raises(NetworkError, match="reads 3 numbers, but there are 2"):
        OutputHead(2, one.outputs[0].ops, (3,))
