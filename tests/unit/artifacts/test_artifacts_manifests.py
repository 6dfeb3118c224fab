# SPDX-License-Identifier: Apache-2.0
import dataclasses
import zipfile
from pathlib import Path

import pytest

from infra.artifacts import Artifacts, manifests, pins
from infra.artifacts.cache import Cache

PROVIDES = {"a.Service": ("x.One", "x.Two"), "a.Other": ("y.One",)}


def test_each_service_has_a_file_with_a_line_for_each_class(tmp_path: Path) -> None:
    manifests.write(PROVIDES, tmp_path / "a.jar")
    with zipfile.ZipFile(tmp_path / "a.jar") as jar:
        texts = {name: jar.read(name).decode() for name in jar.namelist()}
    assert texts == {"META-INF/services/a.Service": "x.One\nx.Two\n", "META-INF/services/a.Other": "y.One\n"}


def test_equal_declarations_give_equal_jars(tmp_path: Path) -> None:
    manifests.write(PROVIDES, tmp_path / "a.jar")
    manifests.write(dict(reversed(PROVIDES.items())), tmp_path / "b.jar")
    assert (tmp_path / "a.jar").read_bytes() == (tmp_path / "b.jar").read_bytes()


def test_a_changed_declaration_makes_the_component_anew(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def folder() -> Path:
        return Artifacts(cache)._component_item("apicurio-converter").folder

    before = folder()
    changed = dataclasses.replace(pins.APICURIO_CONVERTER, provides=PROVIDES)
    monkeypatch.setitem(pins.COMPONENTS, "apicurio-converter", changed)
    assert folder() != before


@pytest.mark.skipif(not Artifacts.open().has("apicurio-converter"), reason="the converter is not set up")
def test_every_class_that_is_declared_is_in_the_jars() -> None:
    jars = (Artifacts.open().component("apicurio-converter") / "lib").glob("*.jar")
    names = {name for jar in jars for name in zipfile.ZipFile(jar).namelist()}
    for classes in pins.APICURIO_CONVERTER.provides.values():
        assert {f"{name.replace('.', '/')}.class" for name in classes} <= names
