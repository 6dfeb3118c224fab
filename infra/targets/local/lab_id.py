# SPDX-License-Identifier: Apache-2.0
"""Id of a lab on this machine, in a file beside its data: a checkout that is moved keeps its clusters' ids."""

import secrets
from pathlib import Path

FILE = "lab-id"


def read(root: Path) -> str:
    """Return the id of the lab in a stack's folder; empty for one that has none.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        return (root / FILE).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def create(root: Path) -> None:
    """Give the lab in a stack's folder an id unless it has one.

    It is random for a new lab. Data that exists was made with the folder's path as the id.

    Raises:
        OSError: the file cannot be written.
    """
    if read(root):
        return
    has_data = (root / "services").exists()
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    (root / FILE).write_text(f"{root if has_data else secrets.token_hex(8)}\n", encoding="utf-8")
