"""The files that hold the repository together."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from polyfold.datasets import bundled, iris, read
from polyfold.errors import NetworkError

ROOT = Path(__file__).parents[2]


def test_ci_runs_the_tests() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()


TARGETS = ["setup", "run", "test", "test-all", "check", "docs", "movies", "clean"]
TARGETS += ["test-one", "test-native", "test-instructions", "sanitize", "coverage", "hooks", "doctest", "browser"]
TARGETS += ["bench", "bench-quick", "bench-history", "callgrind", "callgrind-check"]


@pytest.mark.parametrize("target", TARGETS)
def test_make_knows_its_targets(target: str) -> None:
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # A target that is there twice is only a warning to make, which forgets what the first one did.
    assert "overriding recipe" not in done.stderr


def test_hooks_run_what_is_installed() -> None:
    """Nothing is downloaded at a commit, and what hooks check is what `make check` checks."""
    text = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"repo: (\S+)", text) == ["local"]
    assert set(re.findall(r"language: (\S+)", text)) == {"system"}
    entries = re.findall(r"entry: (.+)", text)
    assert all(entry.startswith(".venv/bin/") for entry in entries)
    checks = (ROOT / "Makefile").read_text().partition("\ncheck:")[2].partition("\n\n")[0]
    for tool in ("ruff check", "ruff format", "mypy --strict", "clang-format --dry-run", "check_layers.py"):
        assert tool in checks and any(tool in entry for entry in entries), tool


def test_the_core_is_tested_in_every_run() -> None:
    text = (ROOT / "Makefile").read_text()
    assert re.search(r"^test: .*\btest-native\b", text, re.MULTILINE)
    assert "NO DOCTEST" in text
    tested = {path.stem for path in (ROOT / "native" / "tests").glob("test_*.cpp")}
    names = "big_integer exact_vector rounding linear_bound cone_bound exact_simplex face_key certificate"
    assert {f"test_{name}" for name in names.split()} <= tested


def test_every_pip_call_uses_the_constraints() -> None:
    text = (ROOT / "Makefile").read_text()
    for line in text.splitlines():
        if re.search(r"\bpip\b.*\binstall\b", line) and not line.lstrip().startswith("#"):
            assert "-c constraints.txt" in line


def test_requirements_follow_the_projects_own_extras(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("requirements", ROOT / "tools" / "requirements.py")
    assert spec and spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text(
        '[project]\nname = "p"\ndependencies = ["a>=1"]\n'
        '[project.optional-dependencies]\nx = ["b", "p[y]"]\ny = ["c", "p[x]", "a>=1"]\n'
    )
    assert tool.requirements(pyproject, []) == ["a>=1"]
    assert tool.requirements(pyproject, ["x"]) == ["a>=1", "b", "c"]
    with pytest.raises(SystemExit, match="no extra 'z'"):
        tool.requirements(pyproject, ["z"])


def test_bundled_iris() -> None:
    assert bundled() == ("iris",)
    network = read("iris")
    assert [weight.shape for weight, _ in network.layers] == [(5, 2), (7, 5), (4, 7), (3, 4)]
    assert [bias.shape for _, bias in iris()] == [(5,), (7,), (4,), (3,)]
    assert network.outputs == ("setosa", "versicolor", "virginica")
    assert network.facts["test_accuracy"] >= 0.9
    with pytest.raises(ValueError, match="read-only"):
        network.layers[0][0][0, 0] = 1.0
    with pytest.raises(NetworkError, match="there are: iris"):
        read("rose")


def test_bundled_iris_tells_typical_flowers_apart() -> None:
    value = np.array([[1.4, 0.2], [4.3, 1.3], [5.8, 2.2]])
    for k, (weight, bias) in enumerate(iris()):
        value = (np.maximum(value, 0) if k else value) @ weight.T + bias
    assert value.argmax(axis=1).tolist() == [0, 1, 2]


def test_bundled_weights_survive_a_round_trip() -> None:
    text = (ROOT / "src" / "polyfold" / "datasets" / "iris.json").read_text()
    assert json.dumps(json.loads(text), indent=1) + "\n" == text
