"""Networks: what the user has, read from torch, ONNX, scikit-learn, Keras or arrays, and checked."""

from polyfold.network.graph import Network, Node, Port
from polyfold.network.load import load

__all__ = ["Network", "Node", "Port", "load"]
