# SPDX-License-Identifier: Apache-2.0
import hashlib
import socket
from pathlib import Path

import pytest

from infra.toolchain.download import DownloadFailed, fetch

CONTENT = b"release" * 100_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def test_fetch_writes_the_file_and_reports_progress(site, tmp_path: Path) -> None:
    site.files["minio"] = CONTENT
    progress: list[tuple[int, int | None]] = []
    fetch(f"{site.url}/minio", tmp_path / "minio", SHA256, lambda done, total: progress.append((done, total)))
    assert (tmp_path / "minio").read_bytes() == CONTENT
    assert progress[-1] == (len(CONTENT), len(CONTENT))


def test_fetch_removes_a_file_with_another_hash(site, tmp_path: Path) -> None:
    site.files["minio"] = CONTENT + b"!"
    with pytest.raises(DownloadFailed, match=rf"/minio has sha256 \w+ instead of {SHA256}; file removed"):
        fetch(f"{site.url}/minio", tmp_path / "minio", SHA256)
    assert list(tmp_path.iterdir()) == []


def test_fetch_removes_a_truncated_download(site, tmp_path: Path) -> None:
    site.files["minio"] = CONTENT
    with pytest.raises(DownloadFailed, match="ended after"):
        fetch(f"{site.url}/cut/minio", tmp_path / "minio", SHA256)
    assert list(tmp_path.iterdir()) == []


def test_interrupted_fetch_leaves_no_file(site, tmp_path: Path) -> None:
    site.files["minio"] = CONTENT

    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(f"{site.url}/minio", tmp_path / "minio", SHA256, interrupt)
    assert list(tmp_path.iterdir()) == []


def test_fetch_reports_a_missing_file_and_an_unreachable_host(site, tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match="Not Found"):
        fetch(f"{site.url}/nothing", tmp_path / "x", SHA256)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(DownloadFailed, match="refused"):
        fetch(f"http://127.0.0.1:{port}/x", tmp_path / "x", SHA256)
