"""Print how long every question goes on beyond its limit, and beyond Ctrl-C: `make limits`.

    python tools/measure_limits.py [NAME ...]

Each is asked on an input that takes well over ten seconds without a limit: with a limit of a second, interrupted after
0.8 seconds, and interrupted after ten. An input that takes less is shown, to be enlarged, and so is an error. The
machine should have nothing else to do.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from limits.table import CALLS, interrupted, limited, prepare


def main() -> None:
    """One row per question, as a table for documents."""
    # Jobs in the background begin with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print("| question | seconds, limit 1 s | after Ctrl-C | after Ctrl-C at 10 s |")
    print("|---|---|---|---|")
    for name in sys.argv[1:] or CALLS:
        print(f"| `{name}` | {' | '.join(_row(name))} |", flush=True)


def _row(name: str) -> Iterator[str]:
    """What is measured of one question; up to an error, which must not keep the others from being measured."""
    try:
        prepare(name)
        yield f"{limited(name, 1.0)[1]:.2f}"
        yield _late(name, 0.8)
        yield _late(name, 10.0)
    except Exception as error:
        yield f"{type(error).__name__}: {error}".replace("|", "\\|").replace("\n", " ")


def _late(name: str, after: float) -> str:
    try:
        return f"{interrupted(name, after)[1]:.2f}"
    except AssertionError:  # the case is too small
        return "was done"


if __name__ == "__main__":
    main()
