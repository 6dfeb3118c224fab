# SPDX-License-Identifier: Apache-2.0
"""The lineage page as an artifact: when it is built anew, what is kept of it, what is said where it cannot be built."""

from pathlib import Path

import pytest

from infra.toolchain import page, prerequisites
from infra.toolchain.artifacts import PAGE, Artifacts
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
    """Puts programs that stand in for Node and npm on PATH."""

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


def made(project, cache, runner):
    folder = cache.root / "page" / "page-1"
    return folder, page.build_page(project, folder, "1", cache, runner, lambda text: None)


def test_it_keeps_the_built_files_alone_and_leaves_the_checkout_as_it_is(project, node, cache, runner) -> None:
    node()
    before = sorted(project.rglob("*"))
    folder, manifest = made(project, cache, runner)
    assert sorted(record.path for record in manifest.files) == ["site/assets/main.js", "site/index.html"]
    assert manifest.source == "npm, Node 20.19.0"
    assert (folder / "site/assets/main.js").read_text() == "src/main.tsx"
    assert sorted(project.rglob("*")) == before
    assert list(cache.tmp.iterdir()) == []


def test_other_sources_want_another_page_and_other_tests_do_not(project) -> None:
    first = page.source_key(project)
    (project / "test" / "a.test.ts").write_text("other")
    assert page.source_key(project) == first
    (project / "src" / "main.tsx").write_text("other")
    assert page.source_key(project) != first


@pytest.mark.parametrize(
    ("npm", "said"),
    [("#!/bin/sh\necho registry away\nexit 1\n", "registry away"), ("#!/bin/sh\n", "wrote no build/site/index.html")],
)
def test_where_it_cannot_be_built_the_error_says_that_the_lab_works_without(project, node, cache, runner, npm, said):
    node(npm=npm)
    with pytest.raises(ArtifactError) as raised:
        made(project, cache, runner)
    assert said in str(raised.value)
    assert "the lab works without the page" in str(raised.value)
    assert not (cache.root / "page").exists()


def test_an_old_node_is_refused_with_how_to_get_a_newer(node) -> None:
    node("v18.19.1")
    with pytest.raises(ArtifactError, match=r"is 18\.19\.1\nRemedy: install version 20\.19 or newer"):
        prerequisites.find_node()


def test_without_npm_one_is_asked_for(node, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = node(npm=None)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(ArtifactError, match="Looking for npm"):
        prerequisites.find_npm(prerequisites.Tool("Node", folder / "node", (20, 19), folder))


def test_it_is_known_before_it_is_built(cache) -> None:
    artifacts = Artifacts(cache)
    assert not artifacts.has(page.NAME)
    with pytest.raises(ArtifactError, match="bin/lab setup"):
        artifacts.component(page.NAME)
    assert {name for name in page.SOURCES if not (PAGE / name).exists()} == set()
