"""The command `polyfold`, and `python -m polyfold`. Nothing is imported before it is needed: see `table`."""

from __future__ import annotations

import sys
from importlib.metadata import version


def main() -> None:
    """Run the command line that was typed, and end with its exit code."""
    if sys.argv[1:] == ["--version"]:
        print(f"polyfold {version('polyfold')}")
        sys.exit(0)
    from polyfold.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
