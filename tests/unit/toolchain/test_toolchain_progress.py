# SPDX-License-Identifier: Apache-2.0
import io

import pytest
from rich.console import Console

from infra.toolchain import progress
from infra.toolchain.progress import PlainProgress, format_duration, format_size
from infra.toolchain.progress_rich import RichProgress


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 kB"), (3_400, "3 kB"), (57_400_000, "57 MB"), (1_240_000_000, "1.2 GB")]
)
def test_format_size(size: int, text: str) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize(("seconds", "text"), [(4.21, "4.2 s"), (187.9, "3:07 min")])
def test_format_duration(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_plain_progress_limits_updates_to_one_per_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    out = io.StringIO()
    plain = PlainProgress(out)
    plain.start("kafka jars", "resolving")
    for second in range(25):
        now[0] = 100.0 + second
        plain.update("kafka jars", f"{second} files")
    plain.done("kafka jars", "54 jars", 25.0, 46_000_000)
    plain.close()
    assert out.getvalue().splitlines() == [
        "kafka jars: resolving",
        "kafka jars: 10 files (10.0 s)",
        "kafka jars: 20 files (20.0 s)",
        "kafka jars: ready, 46 MB in 25.0 s, 54 jars",
    ]


def test_rich_progress_prints_one_line_per_artifact_and_escapes_markup() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    rows = RichProgress(console)
    rows.start("minio", "building")
    rows.update("minio", "3 packages [bold]")
    rows.note("minio: no release [/red]")
    rows.done("minio", "built", 2.0, 1_000_000)
    rows.close()
    text = console.file.getvalue()
    assert "minio 1 MB in 2.0 s, built" in text
    assert "no release [/red]" in text
