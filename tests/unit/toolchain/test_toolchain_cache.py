# SPDX-License-Identifier: Apache-2.0
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from infra.toolchain import manifest as manifests
from infra.toolchain.cache import Cache, default_root, folder_size, hash_key, hash_tree
from infra.toolchain.errors import ArtifactError

HOLDER = """
import sys
from pathlib import Path
from infra.toolchain.cache import Cache
with Cache.open(Path(sys.argv[1])).lock(print):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_environment_variables_select_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LINEAGE_LAB_CACHE", str(tmp_path / "mine"))
    assert default_root() == tmp_path / "mine"
    monkeypatch.delenv("LINEAGE_LAB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_root() == tmp_path / "lineage-lab"


def test_error_about_an_impossible_cache_folder_names_path_and_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArtifactError) as raised:
        Cache.open(tmp_path / "file" / "cache")
    assert str(tmp_path / "file" / "cache") in str(raised.value)
    assert "LINEAGE_LAB_CACHE" in str(raised.value)


def test_hash_key_includes_the_boundaries_of_its_parts() -> None:
    assert hash_key("ab", "c") != hash_key("a", "bc")
    assert hash_key("a", b"b") == hash_key(b"a", "b")


def test_hash_tree_depends_on_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("1")
    first = hash_tree(tmp_path / "a", below=tmp_path)
    (tmp_path / "a" / "x").rename(tmp_path / "a" / "y")
    renamed = hash_tree(tmp_path / "a", below=tmp_path)
    (tmp_path / "a" / "y").write_text("2")
    assert len({first, renamed, hash_tree(tmp_path / "a", below=tmp_path)}) == 3


def test_clear_tmp_removes_leftovers_and_returns_their_names(cache: Cache) -> None:
    (cache.tmp / "kafka jars" / "lib").mkdir(parents=True)
    (cache.tmp / "minio.part").write_bytes(b"half")
    assert cache.clear_tmp() == ["kafka jars", "minio.part"]
    assert list(cache.tmp.iterdir()) == []


def test_staging_folder_is_removed_after_a_failure(cache: Cache) -> None:
    def work() -> None:
        with cache.staging("minio") as folder:
            (folder / "half").write_bytes(b"")
            raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError):
        work()
    assert list(cache.tmp.iterdir()) == []


def test_publish_replaces_an_unfinished_folder(cache: Cache) -> None:
    final = cache.root / "binaries" / "minio-key"
    final.mkdir(parents=True)
    (final / "half").write_bytes(b"")
    with cache.staging("minio") as staged:
        (staged / "minio").write_bytes(b"whole")
        cache.publish(staged, final, manifests.create(staged, "key", "a test"))
    manifest = manifests.load(final)
    assert manifest is not None
    assert [record.path for record in manifest.files] == ["minio"]
    assert not (final / "half").exists()
    assert folder_size(final) > len(b"whole")


def test_cache_lock_waits_for_its_holder_and_reports_the_pid(cache: Cache) -> None:
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(cache.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    with first:
        assert first.stdin is not None
        assert first.stdout is not None
        assert first.stdout.readline() == "held\n"
        messages: list[str] = []
        waiting, entered = threading.Event(), threading.Event()

        def announce(text: str) -> None:
            messages.append(text)
            waiting.set()

        def second() -> None:
            with cache.lock(announce):
                entered.set()

        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(60)
        assert not entered.is_set()
        assert str(first.pid) in messages[0]
        first.stdin.close()
        assert entered.wait(60)
        thread.join()
