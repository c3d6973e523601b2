"""Print how long every question goes on beyond its limit, and beyond Ctrl-C: `make limits`.

    python tools/measure_limits.py [NAME ...]

Each is asked on an input that takes well over ten seconds without a limit: with a limit of a second, interrupted after
0.8 seconds, and interrupted after ten; an
input that takes less is shown, to be enlarged. The machine should have nothing else to do.
"""

from __future__ import annotations

import signal
import sys
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
        prepare(name)
        _, one = limited(name, 1.0)
        print(f"| `{name}` | {one:.2f} | {_late(name, 0.8)} | {_late(name, 10.0)} |", flush=True)


def _late(name: str, after: float) -> str:
    try:
        return f"{interrupted(name, after)[1]:.2f}"
    except AssertionError:  # the case is too small: the row shows it, and the others follow
        return "was done"


if __name__ == "__main__":
    main()
