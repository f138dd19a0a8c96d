"""The memory of a process and of those it started."""

from pathlib import Path

__all__ = ("tree_mb",)


def tree_mb(pid: int) -> float:
    """Megabytes that they have in memory; 0 where the system does not say."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0
    resident = 0.0
    for line in status.read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            resident = int(line.split()[1]) / 1_000
    return resident + sum(tree_mb(child) for child in _children(pid))


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, task.read_text(encoding="utf-8").split())
    return found
