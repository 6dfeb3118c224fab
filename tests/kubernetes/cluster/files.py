# SPDX-License-Identifier: Apache-2.0
"""Files of the test cluster."""

import os
from pathlib import Path


def write_if_changed(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file atomically, unless it has this text: kube-proxy exits when its configuration is written."""
    if path.exists() and path.read_text() == text:
        return
    temporary = path.with_name(f".{path.name}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    temporary.replace(path)
