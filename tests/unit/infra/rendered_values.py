# SPDX-License-Identifier: Apache-2.0
"""Values of the chart for labs with fictitious images."""

from pathlib import Path

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.project import PROJECT
from infra.targets.container_site import ImagePrograms
from infra.targets.kubernetes.chart import CHART
from infra.targets.kubernetes.site import KubernetesSite
from infra.targets.kubernetes.values import ValuesRenderer, chart_services
from infra.user_files import UserFiles, read_user_files
from tests.unit.infra.rendered_labs import DOCKER_LAUNCHER, image

SITE = KubernetesSite(
    stack="dev", checkout=Path("/project"), port_offset=100, endpoints=ENDPOINTS, programs=ImagePrograms(lambda _: True)
)
FILES = UserFiles(flink=read_user_files(PROJECT).flink)


def renderer(**settings):
    chosen = LabSettings(target="kubernetes", **settings)
    return ValuesRenderer(SITE, DOCKER_LAUNCHER, image, chosen, chart_services(CHART, ENDPOINTS), "0123456789ab")


def rendered(setup=True, **settings):
    made = renderer(**settings)
    lab = build_lab(SITE, made.settings, FILES)
    resources = build_lab(SITE.for_clients_in_cluster(), made.settings, FILES).resources
    return lab, made.values(lab, resources, setup)
