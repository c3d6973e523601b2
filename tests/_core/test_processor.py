"""Which compiled core is loaded, and that all of them find the same cells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import polyfold._core as core
from helpers.told_cells import told
from polyfold._core.processor import VARIABLE, built, choose
from polyfold._core.processor import instructions as of_processor

ROOT = Path(__file__).parents[2]
SEEDS, MANY = range(60), range(400)


def run(code: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, which takes the core from POLYFOLD_CORE."""
    found = {"PYTHONPATH": f"{ROOT / 'tools' / 'other_core'}{os.pathsep}{ROOT / 'tests'}"}
    return subprocess.run([sys.executable, *code], capture_output=True, text=True, env=os.environ | found | variables)


def by_another_core(seeds: range) -> dict[str, Any]:
    """What a core of other instructions finds: one in POLYFOLD_OTHER_CORE, as `make test-instructions` has, or here."""
    folder = os.environ.get("POLYFOLD_OTHER_CORE")
    others = [each for each in (("plain",) if folder else built()) if each != core.instructions]
    if not others:
        pytest.skip("the core was built for one set of instructions only: make test-instructions builds another")
    where = {"POLYFOLD_CORE": folder} if folder else {}
    code = [str(ROOT / "tests" / "helpers" / "told_cells.py"), str(seeds.start), str(seeds.stop)]
    done = run(code, **{VARIABLE: others[0], **where})
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    assert answer["instructions"] == others[0]
    cells: dict[str, Any] = answer["cells"]
    return cells


def test_other_instructions_find_the_same_cells() -> None:
    assert by_another_core(SEEDS) == told(SEEDS)


@pytest.mark.slow
def test_other_instructions_find_the_same_cells_of_many_networks() -> None:
    assert by_another_core(MANY) == told(MANY)


def test_the_best_that_was_built_is_loaded() -> None:
    assert of_processor()[-1] == "plain"
    assert core.instructions == choose(os.environ.get(VARIABLE), built())


def test_only_what_was_built_can_be_asked_for() -> None:
    with pytest.raises(ImportError, match=r"'avx-1024'; here it can be x86-64-v3 or plain, or unset"):
        choose("avx-1024", ("x86-64-v3", "plain"))
    with pytest.raises(ImportError, match="built for none of the instructions that this processor has"):
        choose(None, ())
    done = run(["-c", "import polyfold._core"], **{VARIABLE: "avx-1024"})
    assert done.returncode and "POLYFOLD_INSTRUCTIONS is 'avx-1024'" in done.stderr
