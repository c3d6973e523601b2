"""docs/json.md is true: what every command prints has the keys and types that are documented, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import polyfold as pf
from helpers.public import public_types
from polyfold._base.result import SCHEMA, Result, Verdict
from polyfold.cli.output import COMMON
from polyfold.cli.table import COMMANDS
from polyfold.datasets import iris

pytest.importorskip("pyarrow")

TYPES = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "list": list,
    "object": dict,
    "null": type(None),
}
TEXT = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
OF_EVERY_OBJECT, OF_EVERY_RESULT = (
    re.findall(r"^\| `(\w+)` \| ([\w ]+) \|", part, re.MULTILINE)
    for part in TEXT.partition("\n## ")[0].split("Every answer")
)


def documented() -> dict[str, dict[str, tuple[str, bool]]]:
    """For every kind: keys with their types, and whether they must be there."""
    kinds = {}
    for part in TEXT.split("\n## ")[1:]:
        rows = re.findall(r"^\| (`.+?)( \(may be missing\))? \| ([\w ]+) \|", part, re.MULTILINE)
        kinds[part.partition("\n")[0]] = {
            key: (types, not missing) for keys, missing, types in rows for key in re.findall(r"`(\w+)`", keys)
        }
    return kinds


KINDS = documented()


def check(said: dict[str, object]) -> None:
    kind = str(said["kind"])
    keys = KINDS[kind] | {key: (types, True) for key, types in OF_EVERY_OBJECT}
    result = next((known for name, known in public_types().items() if name.rpartition(".")[2] == kind), None)
    common = {key: (types, False) for key, types in OF_EVERY_RESULT}
    if kind == "Check" or (result is not None and issubclass(result, Result)):
        common = {key: (types, True) for key, (types, _) in common.items()}
        if kind == "Check" or issubclass(result, Verdict):
            common |= {"verdict": ("string", True), "word": ("string", True)}
        keys = common | keys
    assert said["schema"] == SCHEMA
    new, missing = said.keys() - keys.keys(), {key for key, (_, needed) in keys.items() if needed} - said.keys()
    assert not new, f"docs/json.md does not have these keys of {kind}: {sorted(new)}"
    assert not missing, f"docs/json.md promises these keys of {kind}: {sorted(missing)}"
    for key, value in said.items():
        allowed = [TYPES[name] for name in keys[key][0].split(" or ")]
        fits = [isinstance(value, kind) and (kind is bool or not isinstance(value, bool)) for kind in allowed]
        assert any(fits), (key, value, keys[key][0])


@pytest.fixture
def files(tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n3,1\n")
    layers = [(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    with pf.training.record(layers, path=tmp_path / "r.recording"):
        pass
    (tmp_path / "l.json").write_text(json.dumps(pf.stats.lipschitz(iris(), pf.box(0, 8)).to_json()))
    return tmp_path


LINES = (
    "info iris --max-seconds 0.2",
    "info iris --max-seconds 0",
    "count iris --box 0 8 --faces",
    "count iris",
    "unfold iris --box 0 8 --out {}/o",
    "unfold iris --max-cells 3 --out {}/p",
    "resume {}/p",
    "equivalent iris iris",
    "equivalent iris iris --box 0 1",
    "equivalent mnist_l1 mnist_he --max-seconds 0.1",
    "reduce iris --box 0 8",
    "reduce iris",
    "explain iris --data {}/x.csv",
    "explain iris --data {}/x.csv --estimate 10",
    "explain iris --data {}/x.csv --scope cell --empty all",
    "truncate blobs --data {}/x.csv --no-picture --out {}/t",
    "report iris --box 0 8 --out {}/r.html",
    "movie {}/r.recording --out {}/m.html --box -1 1",
    "check {}/l.json iris",
)


@pytest.mark.parametrize("line", LINES)
def test_what_commands_print(run, files, line):
    arguments = line.format(*[files] * 2).split()
    if arguments[0] == "resume":
        run("unfold", "iris", "--max-cells", 3, "--out", files / "p")
    code, out, err = run(*arguments, "--json")
    assert code in (0, 1, 3), err
    assert out.count("\n") == 1
    check(json.loads(out, parse_constant=pytest.fail))


def test_what_commands_write(run, files):
    run("unfold", "iris", "--box", 0, 8, "--out", files / "o")
    check(json.loads((files / "o" / "summary.json").read_text()))
    run("truncate", "blobs", "--data", files / "x.csv", "--no-picture", "--out", files / "t")
    check(json.loads((files / "t" / "table.json").read_text()))
    run("explain", "iris", "--data", files / "x.csv", "--out", files / "e.json")
    check(json.loads((files / "e.json").read_text()))


def test_all_commands_are_tried() -> None:
    assert {line.split()[0] for line in LINES} == {command.name for command in COMMANDS} - {"serve"}


def test_the_common_keys_are_those_of_results() -> None:
    assert tuple(key for key, _ in OF_EVERY_RESULT) == COMMON
    said = pf.stats.lipschitz(iris(), pf.box(0, 8)).to_json()
    assert {"schema", "kind", *COMMON} <= said.keys()
