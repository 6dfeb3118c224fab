# SPDX-License-Identifier: Apache-2.0
"""A release of the lineage plugin for Maven repositories, published to a folder."""

import subprocess
import zipfile
from xml.etree import ElementTree

import pytest

from tests.connect.plugins import release

pytestmark = pytest.mark.slow

URL = "https://example.org/lineage-lab"
NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"


def published(folder):
    release(URL, folder)
    (version,) = (folder / "dev" / "lineagelab" / "connect-lineage").glob("*/")
    return {
        path.name.replace(f"-{version.name}", ""): path for path in version.iterdir() if path.suffix in {".jar", ".pom"}
    }


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return published(tmp_path_factory.mktemp("release"))


def test_a_release_has_sources_and_documentation(files):
    assert set(files) == {
        "connect-lineage.jar",
        "connect-lineage.pom",
        "connect-lineage-javadoc.jar",
        "connect-lineage-sources.jar",
    }
    transform = "dev/lineagelab/connect/OpenLineageTransform"
    assert f"{transform}.java" in zipfile.ZipFile(files["connect-lineage-sources.jar"]).namelist()
    assert f"{transform}.html" in zipfile.ZipFile(files["connect-lineage-javadoc.jar"]).namelist()


def test_its_pom_needs_no_other_and_says_what_repositories_demand(files):
    pom = ElementTree.parse(files["connect-lineage.pom"]).getroot()
    assert pom.find(f"{NAMESPACE}parent") is None
    for path in ("name", "description", "url", "licenses/license/name", "developers/developer/name", "scm/url"):
        found = pom.find("/".join(f"{NAMESPACE}{step}" for step in path.split("/")))
        assert found is not None, path
        assert found.text, path
        assert "${" not in found.text, path
    scopes = {
        dependency.find(f"{NAMESPACE}artifactId").text: dependency.find(f"{NAMESPACE}scope").text
        for dependency in pom.iter(f"{NAMESPACE}dependency")
    }
    assert [name for name, scope in scopes.items() if scope == "compile"] == ["jackson-databind"]
    assert "test" not in scopes.values()


def test_a_release_is_reproducible(files, tmp_path):
    again = published(tmp_path)
    assert {name: path.read_bytes() == files[name].read_bytes() for name, path in again.items()} == dict.fromkeys(
        files, True
    )


@pytest.mark.parametrize("url", ["", "ftp://example.org"])
def test_a_release_needs_the_address_of_its_repository(tmp_path, capfd, url):
    with pytest.raises(subprocess.CalledProcessError):
        release(url, tmp_path)
    assert "A release needs the address of its repository: -Drelease.url=https://" in capfd.readouterr().out
    assert list(tmp_path.iterdir()) == []
