# SPDX-License-Identifier: Apache-2.0
"""The setting `lineageHeartbeat`: every emitter of a streaming job has it."""

import pytest

from infra.catalog import LabSettings, build_lab
from infra.project import PROJECT
from infra.services import lineage
from infra.user_files import read_user_files
from lineagelab_common.heartbeat import DEFAULT_SECONDS, VARIABLE, heartbeat_seconds
from tests.unit.infra.rendered_labs import LOCAL_SITE

EMITTERS = {"orders_etl", "supplier_activity", "iceberg_ingestion", "supplier_windows"}


def lab(**settings):
    return build_lab(LOCAL_SITE, LabSettings(flink=True, medallion=True, **settings), read_user_files(PROJECT))


def test_every_streaming_job_and_connect_have_the_setting():
    services = {service.name: service for service in lab(lineage_heartbeat="8s").services}
    assert {name for name, service in services.items() if service.env.get(VARIABLE) == "8"} >= EMITTERS
    (config,) = [text for text in services["connect"].files.values() if "openlineage.transport.url" in text]
    assert "openlineage.interval.ms=8000" in config


def test_without_the_setting_emitters_use_their_default():
    assert all(VARIABLE not in service.env for service in lab().services)
    assert all("openlineage.interval.ms" not in text for service in lab().services for text in service.files.values())
    assert (lineage.HEARTBEAT, lineage.DEFAULT_SECONDS) == (VARIABLE, DEFAULT_SECONDS)


@pytest.mark.parametrize("text", ["0", "0.5", "-1", "nan", "inf", "8s"])
def test_an_interval_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=f"{VARIABLE} is '{text}', not a number of seconds from 1"):
        heartbeat_seconds({VARIABLE: text})


def test_the_interval_of_the_environment():
    assert heartbeat_seconds({}) == heartbeat_seconds({VARIABLE: ""}) == 30
    assert heartbeat_seconds({VARIABLE: "8"}) == 8
