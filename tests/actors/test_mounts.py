"""Which file systems others write to without our hearing of it."""

import os
from pathlib import Path

import pytest

from ubp.actors import mounts
from ubp.actors.mounts import is_remote

MOUNTS = b"""\
22 1 253:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:1 / /caf\xe9 rw - tmpfs tmpfs rw
31 22 0:2 / /my\\040disk rw,relatime master:7 - KIND where rw,size=1
"""


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    table = tmp_path / "mountinfo"
    monkeypatch.setattr(mounts, "_MOUNTS", table)
    return table


@pytest.mark.parametrize(
    ("kind", "remote"),
    [
        ("nfs", True),
        ("nfs4", True),
        ("smb3", True),
        ("ceph", True),
        ("glusterfs", True),
        ("lustre", True),
        ("fakeowner", True),
        ("fuse.sshfs", True),
        ("fuse.glusterfs", True),
        ("fuse.grpcfuse", True),
        ("fuse.vmhgfs-fuse", True),
        ("ext4", False),
        ("fuse.ntfs-3g", False),
        ("fuseblk", False),
        ("tmpfs", False),
    ],
)
def test_file_systems_others_write_to_are_known(
    mounted: Path, kind: str, remote: bool
) -> None:
    mounted.write_bytes(MOUNTS.replace(b"KIND", kind.encode()))

    assert is_remote(Path("/my disk/docs")) is remote
    assert is_remote(Path("/my disk")) is remote
    assert not is_remote(Path("/my disks/docs"))
    assert not is_remote(Path(os.fsdecode(b"/caf\xe9/docs")))


def test_where_nobody_can_say_it_is_not(mounted: Path) -> None:
    assert not mounted.exists()
    assert not is_remote(Path("/nfs"))


def test_the_list_of_this_system_is_understood() -> None:
    if not mounts._MOUNTS.exists():
        pytest.skip("no list of mounts on this system")

    assert mounts._file_system(Path("/proc/self")) == "proc"
