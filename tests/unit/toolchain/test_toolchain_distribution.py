# SPDX-License-Identifier: Apache-2.0
"""Programs from source archives: download by pip, extraction of selected paths, additional jars."""

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from infra.toolchain import pins, venvs
from infra.toolchain.archives import unpack_selected
from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError
from infra.toolchain.maven import Maven, ResolvedJars
from infra.toolchain.process import Runner

SELECTED = {"deps/lib": "lib", "deps/lib/loader.jar": "planner", "deps/plugins/metrics": "plugins/metrics"}
BACKEND = "def prepare_metadata_for_build_wheel(folder, config=None):\n    raise RuntimeError\n"
PROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


def sdist(path: Path, files: dict[str, str], top: str = "thing-1.0") -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(f"{top}/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


def test_unpack_selected_extracts_selected_paths_by_longest_match(tmp_path: Path) -> None:
    files = {
        "deps/lib/a.jar": "a",
        "deps/lib/loader.jar": "l",
        "deps/opt/b.jar": "b",
        "deps/plugins/metrics/m.jar": "m",
    }
    unpack_selected(sdist(tmp_path / "t.tar.gz", files), SELECTED, tmp_path / "out")
    found = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {"lib/a.jar", "planner/loader.jar", "plugins/metrics/m.jar"}


def test_unpack_selected_reports_missing_paths(tmp_path: Path) -> None:
    with pytest.raises(
        ArtifactError, match=r"t\.tar\.gz: the archive does not contain deps/lib/loader\.jar, deps/plugins/metrics"
    ):
        unpack_selected(sdist(tmp_path / "t.tar.gz", {"deps/lib/a.jar": "a"}), SELECTED, tmp_path / "out")


def test_unpack_selected_rejects_paths_outside_the_target_folder(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="is outside the target folder"):
        unpack_selected(sdist(tmp_path / "t.tar.gz", {"deps/lib/../../../x": "x"}), SELECTED, tmp_path / "out")
    assert not (tmp_path / "x").exists()


def test_unpack_selected_reports_a_truncated_archive(tmp_path: Path) -> None:
    whole = sdist(tmp_path / "t.tar.gz", {"deps/lib/a.jar": "".join(map(str, range(50_000)))}).read_bytes()
    (tmp_path / "t.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArtifactError, match=r"Unpacking t\.tar\.gz"):
        unpack_selected(tmp_path / "t.tar.gz", SELECTED, tmp_path / "out")


def test_link_into_folders_places_jars_by_coordinate(cache: Cache, runner: Runner, tmp_path: Path) -> None:
    jars = []
    for name in ("a", "b"):
        jar = cache.maven / f"g/{name}/1/{name}-1.jar"
        jar.parent.mkdir(parents=True)
        jar.write_text(name)
        jars.append(jar)
    wanted = {"lib": ("g:a:1",), "plugins/b": ("g:b:1",)}
    Maven(cache, runner).link_into_folders(wanted, ResolvedJars(tuple(jars)), tmp_path)
    assert (tmp_path / "lib/a-1.jar").read_text() == "a"
    assert (tmp_path / "plugins/b/b-1.jar").read_text() == "b"


def test_flink_lock_matches_its_requirement_and_the_planner_jar() -> None:
    text = (venvs.REQUIREMENTS / "flink.txt").read_text()
    assert f"{(venvs.REQUIREMENTS / 'flink.in').read_text().split()[-1]} \\" in text
    version = text.split("==")[1].split()[0]
    assert f"deps/lib/flink-table-planner-loader-{version}.jar" in pins.FLINK.extracted


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder that pip uses as package index: a source archive, and the build backend that it requires."""
    folder, locks = tmp_path / "index", tmp_path / "requirements"
    folder.mkdir()
    locks.mkdir()
    metadata = "Metadata-Version: 2.1\nName: {}\nVersion: 1.0\n"
    with zipfile.ZipFile(folder / "tool-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tool-1.0.dist-info/METADATA", metadata.format("tool"))
        wheel.writestr("tool-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("tool-1.0.dist-info/RECORD", "")
        wheel.writestr("tool.py", "")
    backend = (
        "import pathlib, tool\n"
        "def prepare_metadata_for_build_wheel(folder, config=None):\n"
        "    place = pathlib.Path(folder, 'thing-1.0.dist-info')\n"
        "    place.mkdir()\n"
        f"    (place / 'METADATA').write_text({metadata.format('thing')!r})\n"
        "    return place.name\n"
        "def build_wheel(*_, **__): raise RuntimeError('nothing is to be built')\n"
    )
    sdist(folder / "thing-1.0.tar.gz", {"pyproject.toml": PROJECT, "backend.py": backend, "PKG-INFO": metadata})
    for name, package, file in (("build", "tool", "tool-1.0-py3-none-any.whl"), ("thing", "thing", "thing-1.0.tar.gz")):
        sha256 = hashlib.sha256((folder / file).read_bytes()).hexdigest()
        (locks / f"{name}.txt").write_text(f"{package}==1.0 \\\n    --hash=sha256:{sha256}\n")
    monkeypatch.setattr(venvs, "REQUIREMENTS", locks)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.slow
def test_download_sdist_accepts_only_the_locked_archive(
    index: Path, cache: Cache, runner: Runner, tmp_path: Path
) -> None:
    found = venvs.download_sdist("thing", tmp_path / "first", cache, runner, lambda _: None)
    assert found.read_bytes() == (index / "thing-1.0.tar.gz").read_bytes()
    sdist(index / "thing-1.0.tar.gz", {"pyproject.toml": PROJECT, "backend.py": BACKEND})
    with pytest.raises(ArtifactError, match=r"Downloading the source archive of thing\.txt"):
        venvs.download_sdist("thing", tmp_path / "second", cache, runner, lambda _: None)
    assert not list((tmp_path / "second" / "archives").iterdir())
