"""How much of the compiled core has run, as gcov counted it, with a floor.

    python tools/core_coverage.py build/coverage [--floor]

Reads the counters that a build with POLYFOLD_COVERAGE wrote and prints one line per file of native/geometry: lines that
ran, and branches that were taken both ways, of those there are (branches that only exceptions take do not count). With
--floor it exits with 1 where the whole is below `tool.polyfold.coverage` of pyproject.toml.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = ROOT / "native" / "geometry"


@dataclass
class Counts:
    """What ran of one file. A line or branch that is compiled several times, as in a template, counts once."""

    lines: dict[int, bool] = field(default_factory=dict)
    branches: dict[tuple[int, int], bool] = field(default_factory=dict)

    def add(self, line: dict[str, object]) -> None:
        """One line of gcov's, of one object file."""
        number, count, branches = line["line_number"], line["count"], line["branches"]
        assert isinstance(number, int) and isinstance(count, int) and isinstance(branches, list)
        self.lines[number] = self.lines.get(number, False) or count > 0
        for index, branch in enumerate(each for each in branches if not each["throw"]):
            self.branches[number, index] = self.branches.get((number, index), False) or branch["count"] > 0


def read(build: Path) -> dict[Path, Counts]:
    """The counts of every file of the core."""
    # The notes of a file are there even if none of it ran.
    counters = [str(path.resolve()) for path in sorted(build.rglob("polyfold_geometry_*.dir/**/*.gcno"))]
    if not any(build.rglob("*.gcda")):
        raise SystemExit(f"{build} holds no counters: build with POLYFOLD_COVERAGE and run something first")
    found: dict[Path, Counts] = defaultdict(Counts)
    with tempfile.TemporaryDirectory() as folder:
        command = ["gcov", "--json-format", "--branch-probabilities", "--hash-filenames", *counters]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        for report in Path(folder).glob("*.gcov.json.gz"):
            for file in json.loads(gzip.decompress(report.read_bytes()))["files"]:
                path = Path(file["file"])
                if path.is_relative_to(CORE):
                    for line in file["lines"]:
                        found[path].add(line)
    return found


def percent(ran: int, there: int) -> float:
    """What ran, of what there is."""
    return 100 * ran / there if there else 100.0


def main() -> int:
    """Print the table; 1 if a floor does not hold."""
    parser = argparse.ArgumentParser(description="Coverage of the compiled core.")
    parser.add_argument("build", type=Path)
    parser.add_argument("--floor", action="store_true", help="fail below the floor of pyproject.toml")
    options = parser.parse_args()
    lines = branches = lines_there = branches_there = 0
    for path, counts in sorted(read(options.build).items()):
        ran, taken = sum(counts.lines.values()), sum(counts.branches.values())
        name = path.relative_to(CORE)
        share = f"{percent(ran, len(counts.lines)):5.1f} %  {percent(taken, len(counts.branches)):5.1f} %"
        print(f"{name!s:32} {len(counts.lines):5} lines {len(counts.branches):5} branches  {share}")
        lines, lines_there = lines + ran, lines_there + len(counts.lines)
        branches, branches_there = branches + taken, branches_there + len(counts.branches)
    total = percent(lines, lines_there), percent(branches, branches_there)
    print(f"the core: {total[0]:.1f} % of {lines_there} lines, {total[1]:.1f} % of {branches_there} branches")
    floor = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["polyfold"]["coverage"]
    if options.floor and (total[0] < floor["core_lines"] or total[1] < floor["core_branches"]):
        print(f"below the floor: {floor['core_lines']} % of lines, {floor['core_branches']} % of branches")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
