# SPDX-License-Identifier: Apache-2.0
"""Chart of the lab, and its values for a stack of this checkout."""

from typing import Any

from infra.catalog import ENDPOINTS, build_lab, check_settings
from infra.model import Service, Task
from infra.project import PROJECT
from infra.settings import Settings
from infra.targets.container_script import container_launcher
from infra.targets.docker.images import Images, registry_reference
from infra.targets.kubernetes.in_cluster import setup_part
from infra.targets.kubernetes.site import KubernetesSite
from infra.targets.kubernetes.values import ValuesRenderer, chart_services
from infra.targets.labels import checkout_id
from infra.toolchain import Artifacts
from infra.user_files import read_user_files

CHART = PROJECT / "charts" / "lineage-lab"


def values_renderer(stack: str, settings: Settings, artifacts: Artifacts) -> ValuesRenderer:
    """Return the renderer of a stack's values."""
    images = Images(artifacts, settings.base_image)

    def image(part: Service | Task) -> str:
        return registry_reference(images.image_for(part), settings.image_registry, settings.image_tag)

    site, known = KubernetesSite.of_stack(stack, settings, artifacts), chart_services(CHART, ENDPOINTS)
    return ValuesRenderer(site, container_launcher(site.programs), image, settings, known, checkout_id(PROJECT))


def parts_on_images(stack: str, settings: Settings, artifacts: Artifacts) -> tuple[Service | Task, ...]:
    """Return everything that runs on an image: services, tasks, and the program that creates resources."""
    lab = build_lab(values_renderer(stack, settings, artifacts).site, settings, read_user_files(PROJECT))
    return (*lab.services, *lab.tasks, setup_part())


def helm_values(stack: str, settings: Settings, artifacts: Artifacts) -> dict[str, Any]:
    """Return the values with which Helm installs the lab of a stack without Pulumi.

    Raises:
        LabError: a configured jar is missing, or a user file is invalid.
    """
    check_settings(settings)
    renderer, files = values_renderer(stack, settings, artifacts), read_user_files(PROJECT)
    lab = build_lab(renderer.site, settings, files)
    resources = build_lab(renderer.site.for_clients_in_cluster(), settings, files).resources
    return renderer.values(lab, resources, setup=True)
