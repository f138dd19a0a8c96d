"""The operating system's lock on an open file: it ends with its process."""

import os
import sys

__all__ = ("try_lock",)

if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
    import msvcrt

    _FAR = 1 << 30  # a byte that is not part of what the file says

    def try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock the file unless somebody else has; whether it is ours. Never waits."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
