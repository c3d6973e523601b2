"""Print how long every question goes on beyond its limit, and beyond Ctrl-C: `make limits`.

    python tools/measure_limits.py [NAME ...]

Each is asked on an input that takes well over ten seconds: with a limit of ten seconds, with one of a second, and
interrupted. The machine should have nothing else to do.
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
    print("| question | seconds, limit 10 s | seconds, limit 1 s | seconds after Ctrl-C |")
    print("|---|---|---|---|")
    for name in sys.argv[1:] or CALLS:
        prepare(name)
        (_, ten), (_, one), (_, late) = limited(name, 10.0), limited(name, 1.0), interrupted(name)
        print(f"| `{name}` | {ten:.2f} | {one:.2f} | {late:.2f} |", flush=True)


if __name__ == "__main__":
    main()
