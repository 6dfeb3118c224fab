# SPDX-License-Identifier: Apache-2.0
"""Lineage page as an artefact: build, cache key, errors."""

from pathlib import Path

import pytest

from infra.toolchain import page, prerequisites
from infra.toolchain.artifacts import PAGE_PROJECT, Artifacts
from infra.toolchain.errors import ArtifactError

NPM = """#!/bin/sh
echo "npm $1"
test -e package-lock.json || exit 3
test "$1" = ci && { mkdir node_modules; exit 0; }
mkdir -p build/site/assets && cp src/main.tsx build/site/assets/main.js && touch build/site/index.html
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    (folder / "src").mkdir(parents=True)
    (folder / "test").mkdir()
    for name in ("package.json", "package-lock.json", "index.html", "src/main.tsx", "test/a.test.ts"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that puts shell scripts named `node` and `npm` on PATH."""

    def install(version: str = "v20.19.0", npm: str | None = NPM) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        for name, text in (("node", f"#!/bin/sh\necho {version}\n"), ("npm", npm)):
            if text is not None:
                (folder / name).write_text(text)
                (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
        return folder

    return install


def build(project, cache, runner):
    folder = cache.root / "page" / "page-1"
    return folder, page.build_page(project, folder, "1", cache, runner, lambda text: None)


def test_build_page_publishes_only_built_files_and_leaves_the_checkout_clean(project, node, cache, runner) -> None:
    node()
    before = sorted(project.rglob("*"))
    folder, manifest = build(project, cache, runner)
    assert sorted(record.path for record in manifest.files) == ["site/assets/main.js", "site/index.html"]
    assert manifest.source == "npm, Node 20.19.0"
    assert (folder / "site/assets/main.js").read_text() == "src/main.tsx"
    assert sorted(project.rglob("*")) == before
    assert list(cache.tmp.iterdir()) == []


def test_source_key_depends_on_sources_but_not_on_tests(project) -> None:
    first = page.source_key(project)
    (project / "test" / "a.test.ts").write_text("other")
    assert page.source_key(project) == first
    (project / "src" / "main.tsx").write_text("other")
    assert page.source_key(project) != first


@pytest.mark.parametrize(
    ("npm", "cause"),
    [("#!/bin/sh\necho registry away\nexit 1\n", "registry away"), ("#!/bin/sh\n", "wrote no build/site/index.html")],
)
def test_error_of_a_failed_build_states_that_the_lab_works_without_page(project, node, cache, runner, npm, cause):
    node(npm=npm)
    with pytest.raises(ArtifactError) as raised:
        build(project, cache, runner)
    assert cause in str(raised.value)
    assert "works without the page" in str(raised.value)
    assert not (cache.root / "page").exists()


def test_error_about_an_old_node_names_the_minimum_version(node) -> None:
    node("v18.19.1")
    with pytest.raises(ArtifactError, match=r"is 18\.19\.1\nRemedy: install version 20\.19 or newer"):
        prerequisites.find_node()


def test_missing_npm_is_reported(node, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = node(npm=None)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(ArtifactError, match="Looking for npm"):
        prerequisites.find_npm(prerequisites.Tool("Node", folder / "node", (20, 19), folder))


def test_page_is_missing_before_it_is_built(cache) -> None:
    artifacts = Artifacts(cache)
    assert not artifacts.has(page.NAME)
    with pytest.raises(ArtifactError, match="bin/lab setup"):
        artifacts.component(page.NAME)
    assert {name for name in page.SOURCES if not (PAGE_PROJECT / name).exists()} == set()
