# SPDX-License-Identifier: Apache-2.0
"""Declarations for Java's ServiceLoader that jars lack: a jar beside them that says what they implement.

Kafka Connect finds a plugin at once where it is declared, and else by loading every class of every jar.
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path

JAR = "service-declarations.jar"
_THEN = (1980, 1, 1, 0, 0, 0)
"""One time for all, the earliest that a zip file can name: equal declarations give equal jars."""


def rendered(provides: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Name and text of each file, in turn. `provides` is service interface -> classes that implement it."""
    return tuple(
        text
        for service, classes in sorted(provides.items())
        for text in (f"META-INF/services/{service}", "".join(f"{name}\n" for name in classes))
    )


def write(provides: Mapping[str, tuple[str, ...]], jar: Path) -> None:
    """Write the jar that declares `provides`."""
    texts = iter(rendered(provides))
    with zipfile.ZipFile(jar, "w") as archive:
        for name, text in zip(texts, texts, strict=True):
            archive.writestr(zipfile.ZipInfo(name, _THEN), text)
