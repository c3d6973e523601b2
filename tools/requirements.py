"""Print the requirements of the project and of the extras named, one per line.

    python tools/requirements.py store dev

Lets the Makefile install dependencies without building the package. An extra that names the project's own
extras is followed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(pyproject: Path, extras: list[str]) -> list[str]:
    """Requirements of the project plus extras, each once, in order of appearance."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    table: dict[str, list[str]] = project.get("optional-dependencies", {})
    own = re.compile(rf"{re.escape(project['name'])}\[([^\]]+)\]")
    found: dict[str, None] = {}
    seen: set[str] = set()

    def add(lines: list[str]) -> None:
        for line in lines:
            match = own.fullmatch(line.strip())
            if match:
                follow([name.strip() for name in match.group(1).split(",")])
            else:
                found[line] = None

    def follow(names: list[str]) -> None:
        for name in names:
            if name not in table:
                raise SystemExit(f"there is no extra {name!r} in {pyproject.name}; there are: {', '.join(table)}")
            if name not in seen:
                seen.add(name)
                add(table[name])

    add(project["dependencies"])
    follow(extras)
    return list(found)


if __name__ == "__main__":
    print("\n".join(requirements(PYPROJECT, sys.argv[1:])))
