# SPDX-License-Identifier: Apache-2.0
"""Trino of the lab: its services and their configuration."""

import pytest

from infra.catalog import LabSettings, build_lab
from infra.cli.setup import required_artifacts
from infra.services.trino import lineage_receiver, server
from tests.unit.infra.test_services import FakeSite

ARTIFACTS = {"trino", "java25"}


def build(**settings):
    return build_lab(FakeSite(), LabSettings(**settings))


def names(lab):
    return {part.key for part in lab.services}


def test_trino_is_optional():
    assert not names(build()) & {server.NAME, lineage_receiver.NAME}
    assert not required_artifacts(LabSettings()) & ARTIFACTS
    assert names(build(trino=True)) >= {server.NAME, lineage_receiver.NAME}
    assert required_artifacts(LabSettings(trino=True)) >= ARTIFACTS
    assert not names(build(trino=True, profile="connect")) & {server.NAME, lineage_receiver.NAME}


@pytest.mark.parametrize("service", [server.NAME, lineage_receiver.NAME])
def test_no_secret_is_in_a_file_that_others_can_read(service):
    part = build(trino=True).service(service)
    for text in part.files.values():
        assert "KEY" not in text
        assert "$" not in text


def test_the_listener_sends_to_the_receiver_with_its_key():
    lab = build(trino=True)
    (text,) = (text for path, text in lab.service(server.NAME).secret_files.items() if path.endswith(server.LISTENER))
    assert "http-event-listener.connect-http-headers=Authorization:Bearer $TRINO_LINEAGE_KEY\n" in text
    assert "http-event-listener.connect-ingest-uri=http://trino_lineage" in text
    assert "TRINO_LINEAGE_KEY" in lab.service(lineage_receiver.NAME).secrets


def test_the_folder_of_the_catalogs_has_no_other_file():
    paths = build(trino=True).service(server.NAME).secret_files
    folders = [path.rpartition("/")[0] for path in paths]
    assert len(set(folders)) == len(folders) == 2
