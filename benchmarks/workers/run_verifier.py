"""Ask a verifier queries, one after the other; run by the Python of their environment. Prints one JSON object.

    python run_verifier.py marabou|vibecheck QUERIES.json CPU_SECONDS

`answers` holds "sat" or "unsat" for each query, or what else it says; `cpu_seconds` and `seconds` are from after the
imports to the last answer. More CPU-seconds than given end the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from verifiers import Query, read_queries


def by_marabou() -> Callable[[Query], str]:
    """Marabou 2: ReLUs split lazily in a simplex method."""
    from maraboupy import Marabou, MarabouCore, MarabouUtils

    options = Marabou.createOptions(numWorkers=1, verbosity=0)

    def ask(query: Query) -> str:
        network = Marabou.read_onnx(query.network)
        inputs, outputs = network.inputVars[0].ravel(), network.outputVars[0].ravel()
        for variable, low, high in zip(inputs, query.lower, query.upper, strict=True):
            network.setLowerBound(variable, low)
            network.setUpperBound(variable, high)
        row = MarabouUtils.Equation(MarabouCore.Equation.GE)
        for variable, coefficient in zip(outputs, query.coefficients, strict=True):
            if coefficient:
                row.addAddend(coefficient, variable)
        row.setScalar(query.bound)
        network.addEquation(row)
        return str(network.solve(verbose=False, options=options)[0])

    return ask


def by_vibecheck() -> Callable[[Query], str]:
    """vibecheck: bounds by linear relaxations, branch and bound, attacks by gradients."""
    from vibecheck import Spec, verify

    def ask(query: Query) -> str:
        region = Spec(query.lower, query.upper).forbid(np.array([query.coefficients]), [-query.bound])
        return str(verify(net=query.network, spec=region).verdict)

    return ask


def main() -> None:
    """Import, ask, tell."""
    name, path, limit = sys.argv[1], Path(sys.argv[2]), int(float(sys.argv[3]))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    # Verifiers write of their progress where they like; the answer is all that goes to standard output.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer_to:
        os.dup2(2, 1)
        with contextlib.redirect_stdout(sys.stderr):
            ask = {"marabou": by_marabou, "vibecheck": by_vibecheck}[name]()
            cpu, wall = time.process_time(), time.perf_counter()
            answers = [ask(query) for query in read_queries(path)]
        took = {"cpu_seconds": time.process_time() - cpu, "seconds": time.perf_counter() - wall}
        print(json.dumps({"answers": answers, **took}), file=answer_to)


if __name__ == "__main__":
    main()
