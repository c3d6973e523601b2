"""Network: what the user has, as a checked graph of piecewise-linear operations with the user's own names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from polyfold._base.extras import require
from polyfold._base.inputs import rows_of
from polyfold._base.notebook import html_table
from polyfold._base.types import Array, ArrayLike
from polyfold.errors import NetworkError, ShapeError, how_many
from polyfold.network.head import Head
from polyfold.network.ops.op import Op, Shape, size

if TYPE_CHECKING:
    import onnx
    import torch

# Numbers in the largest value while a network is called: longer inputs are cut into parts.
NUMBERS_AT_ONCE = 1 << 26
# Nodes that a notebook shows.
_SHOWN = 20


@dataclass(frozen=True, eq=False)
class Port:
    """A named input of a network.

    Attributes
    ----------
    name : str
        What the model calls it.
    shape : tuple of int
        Its shape without the batch axis.
    """

    name: str
    shape: Shape


@dataclass(frozen=True, eq=False)
class Node:
    """One operation of a network.

    Attributes
    ----------
    name : str
        What the user knows it by: the path of a torch module, the name of an ONNX node, or one that was made up.
    op : Op
        What is done.
    inputs : tuple of str
        The names of the ports or earlier nodes whose values it reads, in order.
    """

    name: str
    op: Op
    inputs: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """A continuous piecewise-linear function R^d -> R^m, and the head that the model has behind it, if any.

    The input vector is the concatenation of all inputs, flattened in row-major order; the output vector
    likewise. Calling the network gives the values of this function: the scores, if there is a head.
    `model_outputs` gives what the model puts out, the scores through the head.

    Attributes
    ----------
    inputs : tuple of Port
        The named inputs, in order.
    nodes : tuple of Node
        The operations in topological order; names are unique among nodes and inputs.
    outputs : tuple of str
        The names of the nodes (or inputs) whose values are the result, in order.
    source : str
        Where the network came from: "arrays", "torch", "onnx", "sklearn" or "keras".
    head : Head or None
        What the model does behind its last piecewise-linear op (softmax, sigmoid, argmax); None if nothing.
    notes : tuple of str
        Where this is not all that the model does, as sentences for the user: a model in training mode that is read as
        in evaluation mode, or the part of a model in front of a node (`load(..., until=NODE)`).
    shapes : dict of str to tuple of int
        The shapes of all values by their names, without the batch axis.

    Examples
    --------
    >>> import polyfold as pf
    >>> network = pf.load([([[1.0, 2.0]], [0.5])])
    >>> network.input_dim, network.output_dim, [node.name for node in network.nodes]
    (2, 1, ['linear1'])
    """

    inputs: tuple[Port, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    source: str = "arrays"
    head: Head | None = None
    notes: tuple[str, ...] = ()
    shapes: dict[str, Shape] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        shapes: dict[str, Shape] = {}
        for port in self.inputs:
            if port.name in shapes:
                raise NetworkError(f"two inputs are named {port.name!r}")
            shapes[port.name] = port.shape
        for node in self.nodes:
            if node.name in shapes:
                raise NetworkError(f"two nodes are named {node.name!r}")
            missing = [name for name in node.inputs if name not in shapes]
            if missing:
                raise NetworkError(f"node {node.name!r} reads {missing[0]!r}, which no earlier node computes")
            for values in node.op.constants:
                if not np.isfinite(values).all():
                    bad = values[~np.isfinite(values)].flat[0]
                    raise NetworkError(
                        f"node {node.name!r} ({type(node.op).__name__}) contains {bad}: "
                        "every weight must be a finite number; retrain or repair the model"
                    )
            try:
                shapes[node.name] = node.op.infer(*(shapes[name] for name in node.inputs))
            except ShapeError as error:
                raise NetworkError(f"node {node.name!r} ({type(node.op).__name__}): {error}") from None
        for name in self.outputs:
            if name not in shapes:
                raise NetworkError(f"output {name!r} is computed by no node")
        if self.input_dim == 0:
            raise NetworkError("the network has no inputs")
        if self.head is not None and [o.scores for o in self.head.outputs] != [size(shapes[n]) for n in self.outputs]:
            raise NetworkError(f"the head ({self.head}) does not fit the outputs {', '.join(self.outputs)}")
        object.__setattr__(self, "shapes", shapes)
        empty = next((name for name, shape in shapes.items() if size(shape) == 0), None)
        if empty is not None:
            raise NetworkError(f"{empty!r} has shape {shapes[empty]}, which holds no numbers: give it a width")

    def __repr__(self) -> str:
        inputs = ", ".join(f"{port.name} {port.shape}" for port in self.inputs)
        outputs = ", ".join(f"{name} {self.shapes[name]}" for name in self.outputs)
        head = "" if self.head is None else f"; these are scores, behind them the head: {self.head}"
        notes = "".join(f"; note: {note}" for note in self.notes)
        return f"Network from {self.source}: {inputs} to {outputs}, {how_many(len(self.nodes), 'node')}{head}{notes}"

    def _repr_html_(self) -> str:
        nodes = [f"{node.name}: {type(node.op).__name__} to {self.shapes[node.name]}" for node in self.nodes]
        if len(nodes) > _SHOWN:
            nodes = [*nodes[: _SHOWN - 1], f"and {len(nodes) - _SHOWN + 1} more"]
        facts = {
            "inputs": ", ".join(f"{port.name} {port.shape}" for port in self.inputs),
            "outputs": ", ".join(f"{name} {self.shapes[name]}" for name in self.outputs),
            "constants": f"{sum(values.size for node in self.nodes for values in node.op.constants):,}",
            "nodes": "\n".join(nodes),
        }
        if self.head is not None:
            facts["head"] = str(self.head)
        if self.notes:
            facts["notes"] = "\n".join(self.notes)
        return html_table(facts, f"Network from {self.source}")

    @property
    def input_dim(self) -> int:
        """d: how many numbers go in."""
        return sum(size(port.shape) for port in self.inputs)

    @property
    def output_dim(self) -> int:
        """m: how many numbers come out; scores, if there is a head."""
        return sum(size(self.shapes[name]) for name in self.outputs)

    @property
    def model_output_shapes(self) -> list[Shape]:
        """The shapes of what the model itself puts out, behind the head if there is one."""
        if self.head is None:
            return [self.shapes[name] for name in self.outputs]
        return [output.shape for output in self.head.outputs]

    def __call__(self, X: ArrayLike) -> Array:
        """The values of the piecewise-linear function at the rows of X, in floats.

        If there is a head, these are the scores before it; `model_outputs` takes them through the head.

        Parameters
        ----------
        X : array_like, shape (n, d)
            One input per row; (n, *shape) is fine if there is a single input.

        Returns
        -------
        array of float, shape (n, m)
            One row of outputs per input.

        Examples
        --------
        >>> import polyfold as pf
        >>> pf.load([([[1.0, 2.0]], [0.5])])([[1.0, 1.0], [0.0, 0.0]]).tolist()
        [[3.5], [0.5]]
        """
        rows = self.rows(X)
        step = max(1, NUMBERS_AT_ONCE // max(size(shape) for shape in self.shapes.values()))
        parts = [self._run(rows[start : start + step]) for start in range(0, max(1, len(rows)), step)]
        return np.concatenate(parts)

    def model_outputs(self, X: ArrayLike) -> Array:
        """What the model itself puts out at the rows of X, in floats: the scores through the head, if there is one.

        Parameters
        ----------
        X : array_like, shape (n, d)
            One input per row.

        Returns
        -------
        array of float, shape (n, k)
            One row of the model's own outputs per input; the number of a class is a float, too.

        Examples
        --------
        >>> from polyfold.network.head import Head, HeadOp, OutputHead
        >>> from polyfold.network.load import load
        >>> head = Head((OutputHead(1, (HeadOp("sigmoid", (1, 1, 1)),), (1,)),))
        >>> from dataclasses import replace
        >>> network = replace(load([([[2.0]], [0.0])]), head=head)
        >>> network([[0.0]]).tolist(), network.model_outputs([[0.0]]).tolist()
        ([[0.0]], [[0.5]])
        """
        return self(X) if self.head is None else self.head(self(X))

    def _run(self, rows: Array) -> Array:
        found = {name: value.reshape(len(rows), -1) for name, value in self.walk(rows) if name in self.outputs}
        return np.concatenate([found[name] for name in self.outputs], axis=1)

    def evaluate(self, rows: Array) -> dict[str, Array]:
        """Every named value at the rows of an array.

        Parameters
        ----------
        rows : array of float, shape (n, d)
            One input per row.

        Returns
        -------
        dict of str to array of float, shape (n, *shape)
            The values of all inputs and nodes by their names.

        Examples
        --------
        >>> import polyfold as pf
        >>> values = pf.load([([[1.0, 2.0]], [0.5])]).evaluate(np.array([[1.0, 1.0]]))
        >>> {name: value.tolist() for name, value in values.items()}
        {'input': [[1.0, 1.0]], 'linear1': [[3.5]]}
        """
        return dict(self.walk(rows))

    def walk(self, rows: Array, reads: Callable[[Op, Array], Array] | None = None) -> Iterator[tuple[str, Array]]:
        """Name and value of all inputs and nodes in order; what no later node reads is forgotten here.

        Parameters
        ----------
        rows : array of float, shape (n, d)
            One input per row.
        reads : callable, optional
            Every node reads what this makes of its op and a value, instead of the value.

        Yields
        ------
        tuple of str and array of float, shape (n, *shape)
            A name and its value.
        """
        readers = {name: node.name for node in self.nodes for name in node.inputs}
        values: dict[str, Array] = {}
        start = 0
        for port in self.inputs:
            stop = start + size(port.shape)
            values[port.name] = rows[:, start:stop].reshape(len(rows), *port.shape)
            yield port.name, values[port.name]
            start = stop
        for node in self.nodes:
            inputs = [values[name] for name in node.inputs]
            if reads is not None:
                inputs = [reads(node.op, value) for value in inputs]
            values[node.name] = node.op.evaluate(*inputs)
            yield node.name, values[node.name]
            for name in {node.name, *node.inputs}:
                if readers.get(name, node.name) == node.name:
                    del values[name]

    def rows(self, X: ArrayLike) -> Array:
        """X as a float64 matrix of input rows, or an error that quotes its shape.

        Parameters
        ----------
        X : array_like, shape (n, d) or (n, *shape)
            One input per row; one vector is one row.

        Returns
        -------
        array of float, shape (n, d)
            The same numbers.

        Raises
        ------
        ShapeError
            If these are no rows of d finite numbers.
        """
        one = self.inputs[0].shape if len(self.inputs) == 1 else None
        return np.asarray(rows_of(X, self.input_dim, shape=one, single=True), dtype=np.float64)

    # -- elsewhere

    def to_onnx(self, *, dtype: Any = np.float64) -> onnx.ModelProto:
        """The network as an ONNX model: inputs, outputs and nodes have the names that they have here.

        All tensors are (rows, *shape), the number of rows open. The head is part of the model: its outputs are those of
        `model_outputs`. The number of a class is an int64.

        Parameters
        ----------
        dtype : numpy dtype
            The type of all numbers: float64, or float32 for runtimes that know nothing else. Then weights are rounded,
            unless they were float32 from the start, so the model is another function.

        Returns
        -------
        onnx.ModelProto
            The model.

        Examples
        --------
        >>> from polyfold.network.load import load
        >>> model = load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]).to_onnx()
        >>> [(node.name, node.op_type) for node in model.graph.node]
        [('linear1', 'Gemm'), ('relu1', 'Relu'), ('linear2', 'Gemm')]
        """
        require("onnx", extra="onnx", purpose="an ONNX model of a network")
        from polyfold.network.write.onnx import to_onnx

        return to_onnx(self, dtype)

    def save_onnx(self, path: str | PathLike[str], *, dtype: Any = np.float64) -> None:
        """Write `to_onnx` to a file; an interrupted or failed write leaves what was there before.

        Parameters
        ----------
        path : str or os.PathLike
            Where to write it.
        dtype : numpy dtype
            As for `to_onnx`.
        """
        require("onnx", extra="onnx", purpose="an ONNX file of a network")
        from polyfold.network.write.onnx import save_onnx

        save_onnx(self, path, dtype)

    def to_torch(self, *, dtype: torch.dtype | None = None) -> torch.nn.Module:
        """The network as a torch module in evaluation mode, with submodules that are named after the nodes.

        A chain of nodes is an `nn.Sequential`; anything else is a module that takes all inputs in order and returns a
        tensor, or a tuple if there are several outputs. Tensors are (rows, *shape). The head is part of the module.

        Parameters
        ----------
        dtype : torch.dtype, optional
            The type of all numbers (default: torch.float64). With torch.float32 weights are rounded, unless they were
            float32 from the start, so the module is another function; that also goes for `module.float()`.

        Returns
        -------
        torch.nn.Module
            The module.

        Examples
        --------
        >>> from polyfold.network.load import load
        >>> load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]).to_torch()
        Sequential(
          (linear1): Linear(in_features=1, out_features=2, bias=True)
          (relu1): ReLU()
          (linear2): Linear(in_features=2, out_features=1, bias=True)
        )
        """
        require("torch", extra="torch", purpose="a torch module of a network")
        from polyfold.network.write.torch import to_torch

        return to_torch(self, dtype)
