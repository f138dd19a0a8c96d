"""On what kind of file system a folder is, and whether others write to it unheard."""

import os
import re
from pathlib import Path

__all__ = ("is_remote",)

_MOUNTS = Path("/proc/self/mountinfo")

_REMOTE = re.compile(
    r"9p|afs|ceph|cifs|davfs|fakeowner|glusterfs|grpcfuse|lustre|ncpfs|nfs\d*|prl_fs"
    r"|rclone|s3fs|smb\w*|sshfs|vboxsf|virtiofs|vmhgfs(-fuse)?"
)
"""File systems that others change without the kernel hearing of it."""


def is_remote(folder: Path) -> bool:
    """Whether the system may not be told of what happens in *folder*."""
    kind = _file_system(folder).removeprefix("fuse.")
    return _REMOTE.fullmatch(kind) is not None


def _file_system(folder: Path) -> str:
    """The kind of file system *folder* is on; empty where nobody can say."""
    try:
        # Bytes of any kind: a mount may be anywhere.
        lines = os.fsdecode(_MOUNTS.read_bytes()).splitlines()
    except OSError:
        return ""
    real = os.path.realpath(folder)
    found = ("", "")
    for line in lines:
        before, _, after = line.partition(" - ")
        mount = before.split(" ")[4].replace("\\040", " ")
        inside = real == mount or real.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(found[0]):
            found = (mount, after.split(" ")[0])
    return found[1]
