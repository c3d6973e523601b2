"""What is kept of the machine: what tells machines apart, not what it is called."""

from __future__ import annotations

from typing import Any


def pytest_benchmark_update_machine_info(machine_info: dict[str, Any]) -> None:
    for key in ("node", "release", "python_build", "python_compiler"):
        machine_info.pop(key, None)
    cpu = machine_info.get("cpu", {})
    machine_info["cpu"] = {key: cpu[key] for key in ("brand_raw", "count", "arch") if key in cpu}


def pytest_benchmark_update_commit_info(commit_info: dict[str, Any]) -> None:
    for key in ("project", "branch"):
        commit_info.pop(key, None)
