# SPDX-License-Identifier: Apache-2.0
"""Lock of a stack: one command at a time creates or removes its lab."""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from infra.errors import LabError
from infra.project import STATE

LOCKS = STATE / ".locks"
"""Folder of the locks; not that of the stack, which `lab down` removes."""


_ATTEMPTS = 1_000
"""Attempts to create a lock: one fails only if another command ends at the same moment."""


@contextmanager
def changing(stack: str, folder: Path = LOCKS) -> Iterator[None]:
    """Hold the lock of a stack. The kernel releases that of a process that is killed; no child inherits it.

    Pulumi's own lock covers only its update: not the steps before and after it, and not `lab reset`.

    Raises:
        LabError: another command holds it.
    """
    path = folder / f"{stack}.lock"
    with _locked(path) as file:
        file.write(f"process {os.getpid()}, {' '.join(sys.argv[1:])}")
        file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # locks of other stacks, or labs, are left
                folder.rmdir()
                folder.parent.rmdir()


def _locked(path: Path) -> IO[str]:
    """Create and lock a file, which its owner removes before it closes it."""
    for _ in range(_ATTEMPTS):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+", encoding="utf-8")
        except (FileExistsError, FileNotFoundError):  # the owner of another lock removed the empty folder meanwhile
            continue
        except OSError as error:
            raise LabError(f"cannot create the lock {path}: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown process"
            file.close()
            raise LabError(
                f"another command changes stack {path.stem}: {holder}. Wait until it has ended; nothing was changed"
            ) from error
        # Its owner may have removed it between the two calls.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                file.truncate(0)
                return file
        file.close()
    raise LabError(f"cannot create the lock {path}: other commands remove its folder again and again; try again")
