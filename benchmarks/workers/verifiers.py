"""What is asked of a verifier: a network, a box, and regions of outputs; and the file in which that travels to workers.

Needs NumPy only: other environments read it too.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Query:
    """Does an input of the box have outputs y with `y @ coefficients >= bound`?

    Coefficients are those of one output, or 1 and -1 of two of them with bound 0: what verifiers' languages can say.
    """

    network: str  # an ONNX file
    lower: list[float]
    upper: list[float]
    coefficients: list[float]
    bound: float


def write_queries(path: Path, queries: list[Query]) -> None:
    """One file for a question."""
    path.write_text(json.dumps([asdict(query) for query in queries]), encoding="utf-8")


def read_queries(path: Path) -> list[Query]:
    """The queries of a question."""
    return [Query(**each) for each in json.loads(path.read_text(encoding="utf-8"))]
