"""Every example in the documents runs.

Fenced `python` blocks of one document run in order and share one namespace; a block with `>>>` prompts runs
as a doctest. A block whose fence says `python no-run` is skipped.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```python[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(text: str) -> list[tuple[int, str]]:
    """The runnable blocks with the line on which each begins."""
    return [(text.count("\n", 0, match.start(1)) + 1, match.group(1)) for match in FENCE.finditer(text)]


def run(text: str, name: str) -> None:
    """Run all blocks of a document in one namespace."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(text):
        if code.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, namespace, f"{name}:{line}", name, line - 1)
            report: list[str] = []
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(test, out=report.append, clear_globs=False)
            namespace.update(test.globs)
            if runner.failures:
                raise AssertionError("".join(report))
        else:
            # Blank lines in front make tracebacks show the document's own line numbers.
            exec(compile("\n" * (line - 1) + code, name, "exec"), namespace)


WITH_CODE = [path for path in DOCUMENTS if blocks(path.read_text(encoding="utf-8"))]


# Pages whose examples take seconds; other tests try the same calls on smaller networks.
SECONDS_EACH = {"equivalence.md", "gallery.md", "reduction.md"}


def page(path: Path) -> Any:
    marks = [pytest.mark.slow] if path.name in SECONDS_EACH else []
    return pytest.param(path, marks=marks, id=str(path.relative_to(ROOT)))


@pytest.mark.parametrize("path", [page(path) for path in WITH_CODE])
def test_examples(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))


def test_readme_has_examples() -> None:
    assert ROOT / "README.md" in WITH_CODE


def test_blocks_share_a_namespace() -> None:
    run(
        "```python\na = 1\n```\n\n```python\n>>> a + 1\n2\n>>> b = a\n```\n\n```python\nassert b == 1\n```\n",
        "x.md",
    )


def test_a_wrong_result_fails() -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run("```python\n>>> 1 + 1\n3\n```\n", "x.md")


def test_an_error_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        run("```python\n1 / 0\n```\n", "x.md")


def test_no_run_is_skipped() -> None:
    run("```python no-run\n1 / 0\n```\n", "x.md")
