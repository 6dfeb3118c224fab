# SPDX-License-Identifier: Apache-2.0
"""The version is written once, in VERSION; manifests that cannot read it repeat it."""

import json
import tomllib
from xml.etree import ElementTree

from infra.project import PROJECT, version

POM = "{http://maven.apache.org/POM/4.0.0}"


def tracked(name):
    return [path for path in PROJECT.rglob(name) if not {"target", "node_modules", ".lab"} & {*path.parts}]


def pom_version(path):
    root = ElementTree.parse(path).getroot()
    return root.findtext(f"{POM}version") or root.findtext(f"{POM}parent/{POM}version")


def test_java_and_page_have_the_version_of_the_repository():
    found = {path: pom_version(path) for path in tracked("pom.xml")}
    found["page"] = json.loads((PROJECT / "page" / "package.json").read_text())["version"]
    assert set(found.values()) == {version()}, found


def test_python_packages_read_the_version():
    for path in tracked("pyproject.toml"):
        project = tomllib.loads(path.read_text())["project"]
        assert "version" not in project, path
        assert "version" in project["dynamic"], path
