# SPDX-License-Identifier: Apache-2.0
"""Values of the chart, rendered from the lab with fictitious images."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.project import PROJECT
from infra.settings import TLS
from infra.targets.kubernetes.chart import CHART
from infra.targets.kubernetes.names import object_name
from infra.targets.kubernetes.values import ValuesRenderer, chart_services
from infra.user_files import UserFiles, read_user_files
from tests.unit.infra.rendered_labs import DOCKER_LAUNCHER, image
from tests.unit.infra.rendered_values import SITE

Values = dict[str, Any]

PROFILES = {
    "full": LabSettings(
        target="kubernetes",
        kafka_brokers=3,
        connect_workers=2,
        flink_taskmanagers=2,
        marquez=True,
        spark="kubernetes",
        spark_history=True,
    ),
    "reduced": LabSettings(target="kubernetes", flink=False, spark="kubernetes", maintenance_every="", dashboard=True),
    "connect": LabSettings(target="kubernetes", profile="connect"),
    "tls": LabSettings(target="kubernetes", security=TLS, kafka_brokers=3, spark="kubernetes", dashboard=True),
}
"""Settings of the rendered labs: every optional part; the dashboard, without Flink; Connect with what it needs; TLS."""

SECRET = "lab-with-certificates"
"""Name of a Secret of the user, which a lab with TLS needs."""


@cache
def rendered(profile: str) -> Values:
    """Return the values of a profile, as `lab render kubernetes` writes them. Do not change them."""
    settings, files = PROFILES[profile], UserFiles(flink=read_user_files(PROJECT).flink)
    services = chart_services(CHART, ENDPOINTS)
    site = replace(SITE, tls=settings.security == TLS)
    renderer = ValuesRenderer(site, DOCKER_LAUNCHER, image, settings, services, "0123456789ab")
    resources = build_lab(site.for_clients_in_cluster(), settings, files).resources
    values = renderer.values(build_lab(site, settings, files), resources, setup=True)
    if site.tls:
        values["credentials"]["existingSecret"] = SECRET
    return values


def parts_of(values: Values) -> dict[str, Values]:
    """Return the values of every part, by the name of its objects."""
    return {object_name(part["name"]): part for part in _parts(values)}


def _parts(values: Values) -> Iterator[Values]:
    yield from (part for part in values.values() if isinstance(part, dict) and part.get("enabled") and "name" in part)
    yield from values["jobs"].values()
    yield from values["tasks"].values()
