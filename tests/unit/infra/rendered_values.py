# SPDX-License-Identifier: Apache-2.0
"""Values of the chart for labs with fictitious images."""

from dataclasses import replace
from pathlib import Path

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.project import PROJECT
from infra.targets.container_site import ImagePrograms
from infra.targets.kubernetes.chart import CHART
from infra.targets.kubernetes.site import KubernetesSite
from infra.targets.kubernetes.target import KubernetesTarget
from infra.targets.kubernetes.values import ValuesRenderer, chart_services
from infra.user_files import UserFiles, read_user_files
from tests.unit.infra.rendered_labs import CHECKOUT, DOCKER_LAUNCHER, image

SITE = KubernetesSite(
    stack="dev", checkout=Path("/project"), port_offset=100, endpoints=ENDPOINTS, programs=ImagePrograms(lambda _: True)
)
FILES = UserFiles(flink=read_user_files(PROJECT).flink)


def renderer(**settings):
    chosen = LabSettings(target="kubernetes", **settings)
    return ValuesRenderer(SITE, DOCKER_LAUNCHER, image, chosen, chart_services(CHART, ENDPOINTS), "0123456789ab")


def kubernetes_resources(settings, tls=False):
    """Return the resources of a lab on Kubernetes by key."""
    site = replace(SITE, checkout=CHECKOUT, tls=tls)
    services = chart_services(CHART, ENDPOINTS)
    made = ValuesRenderer(site, DOCKER_LAUNCHER, image, settings, services, "0123456789ab")
    target = KubernetesTarget(
        made, lambda: build_lab(site.for_clients_in_cluster(), settings, FILES), CHECKOUT / ".lab" / "dev", settings
    )
    return {resource.key: resource for resource in target.render(build_lab(site, settings, FILES))}


def rendered(setup=True, **settings):
    made = renderer(**settings)
    lab = build_lab(SITE, made.settings, FILES)
    resources = build_lab(SITE.for_clients_in_cluster(), made.settings, FILES).resources
    return lab, made.values(lab, resources, setup)
