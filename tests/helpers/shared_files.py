"""Where the models and pictures lie that tests take from beside the repository, and what tests say without them."""

from __future__ import annotations

from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared"
MODELS = SHARED / "data" / "models"
MNIST = SHARED / "data" / "mnist"

ABSENT = "NOT TESTED, ../shared is absent"


def missing(*folders: str) -> str | None:
    """Why a test marked `shared(*folders)` cannot run: which of the folders of ../shared/data is not there."""
    gone = [name for name in folders or ("",) if not (SHARED / "data" / name).is_dir()]
    return f"{ABSENT}: there is no {SHARED / 'data' / gone[0]}" if gone else None
