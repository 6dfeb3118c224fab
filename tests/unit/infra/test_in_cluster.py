# SPDX-License-Identifier: Apache-2.0
"""The program that creates resources from inside a cluster, with files as resources."""

import json

import pytest

from infra.errors import LabError
from infra.model.inputs import Inputs
from infra.provider.in_cluster import ClusterLab, Entry, apply_all, await_keys, in_order, main
from infra.provider.kind import Kind, OperationContext, ReadResult


class NoteInputs(Inputs):
    path: str
    text: str


class NoteKind(Kind[NoteInputs]):
    """A text file; its folder must exist."""

    name = "Note"
    inputs = NoteInputs

    def create(self, inputs, call):
        try:
            with open(inputs.path, "w") as file:
                file.write(inputs.text)
        except OSError as error:
            raise LabError(f"cannot write {inputs.path}") from error
        return {}

    def read(self, inputs, call):
        try:
            with open(inputs.path) as file:
                return ReadResult(inputs.model_copy(update={"text": file.read()}))
        except OSError:
            return None

    def update(self, old, new, call):
        return self.create(new, call)

    def delete(self, inputs, call):
        raise NotImplementedError


def entry(key, path, *needs, text="x"):
    return Entry(key, "Note", {"path": str(path), "text": text}, needs)


def lab(*entries, services=None):
    return ClusterLab({one.key: one for one in entries}, services or {}, {"Note": NoteKind()})


def test_each_resource_comes_after_what_it_needs():
    entries = {one.key: one for one in (entry("c", "", "b", "kafka"), entry("a", ""), entry("b", "", "a"))}
    assert list(in_order(entries)) == ["a", "b", "c"]


def test_apply_creates_updates_and_leaves_alone(tmp_path, capsys):
    (tmp_path / "same").write_text("x")
    (tmp_path / "other").write_text("old")
    apply_all(
        lab(
            entry("new", tmp_path / "new"),
            entry("same", tmp_path / "same"),
            entry("other", tmp_path / "other", text="new"),
        ),
        OperationContext(),
    )
    assert capsys.readouterr().out.splitlines() == ["new: created", "same: unchanged", "other: updated"]
    assert (tmp_path / "other").read_text() == "new"


def test_apply_waits_for_the_service_that_a_resource_needs(tmp_path, free_tcp_port, monkeypatch):
    monkeypatch.setattr("infra.provider.in_cluster.RETRY_SECONDS", 0.05)
    call = OperationContext()
    attempts = []
    monkeypatch.setattr(
        "infra.provider.in_cluster.accepts_connections", lambda host, port: attempts.append(port) or len(attempts) > 2
    )
    apply_all(lab(entry("new", tmp_path / "new", "kafka"), services={"kafka": f"127.0.0.1:{free_tcp_port}"}), call)
    assert attempts == [free_tcp_port] * 3
    assert (tmp_path / "new").exists()


def test_apply_reports_the_last_failure_at_its_time_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("infra.provider.in_cluster.APPLY_SECONDS", 0)
    with pytest.raises(LabError, match=r"new could not be created within 0 s: cannot write .*/missing/new"):
        apply_all(lab(entry("new", tmp_path / "missing" / "new")), OperationContext())


def test_await_returns_when_resources_exist_and_ignores_services_without_a_probe(tmp_path):
    (tmp_path / "there").write_text("x")
    await_keys(lab(entry("there", tmp_path / "there")), ["there", "shop"], OperationContext())


def test_program_reads_its_folder_and_refuses_unknown_words(tmp_path, capsys):
    (tmp_path / "resources.json").write_text("[]")
    (tmp_path / "services.json").write_text(json.dumps({}))
    assert main(["apply", str(tmp_path)]) == 0
    assert main(["await", str(tmp_path), "shop"]) == 0
    assert main(["destroy", str(tmp_path)]) == 2
    assert "usage: python -m infra.provider.in_cluster" in capsys.readouterr().err
