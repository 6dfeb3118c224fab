# SPDX-License-Identifier: Apache-2.0
"""Labs rendered by the targets with fictitious paths."""

from pathlib import Path

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.project import PROJECT
from infra.targets.container_paths import host_name
from infra.targets.container_script import container_launcher
from infra.targets.container_site import ImagePrograms
from infra.targets.docker.container import ContainerRenderer
from infra.targets.docker.site import DockerSite
from infra.targets.docker.target import DockerTarget
from infra.targets.launch_script import Launcher
from infra.targets.local.site import LocalSite
from infra.targets.local.target import LocalTarget
from infra.user_files import UserFiles, read_user_files

OFFSET = 100
CHECKOUT = Path("/project")
STACK_ROOT = CHECKOUT / ".lab" / "dev"
CREDENTIALS = "/run/lineage-lab/credentials.env"
"""Path of the credentials inside a container."""


class Programs:
    """Artefacts in a fictitious cache."""

    def component(self, name):
        return Path("/cache/components") / name

    def python(self, environment):
        return Path("/cache/venvs") / environment / "bin/python"

    def java(self, runtime=17):
        return Path(f"/java-{runtime}/bin/java")

    def binary(self, name):
        return Path("/cache/binaries") / name

    def has(self, name):
        return True

    def class_data(self, name):
        return Path("/cache/class-data") / name


LOCAL_SITE = LocalSite(root=STACK_ROOT, port_offset=OFFSET, endpoints=ENDPOINTS, programs=Programs())
IMAGE_PROGRAMS = ImagePrograms(lambda component: component != "marquez")
DOCKER_LAUNCHER = container_launcher(IMAGE_PROGRAMS)


def local_resources(settings):
    """Return the resources of a local lab by key."""
    launcher = Launcher(Programs(), PROJECT, STACK_ROOT / "credentials.env")
    wanted = build_lab(LOCAL_SITE, settings, UserFiles(flink=read_user_files(PROJECT).flink))
    return {resource.key: resource for resource in LocalTarget(LOCAL_SITE, launcher, settings).render(wanted)}


def image(part):
    return f"lineage-lab/{host_name(part.name)}:made"


def docker_target(stack="dev", settings=None, image=image, tls=False):
    settings = settings or LabSettings(target="docker", port_offset=OFFSET)
    site = DockerSite(
        stack=stack,
        checkout=CHECKOUT,
        port_offset=settings.port_offset,
        endpoints=ENDPOINTS,
        programs=IMAGE_PROGRAMS,
        tls=tls,
    )
    renderer = ContainerRenderer(site, DOCKER_LAUNCHER, image, CHECKOUT)
    return DockerTarget(renderer, CHECKOUT / ".lab" / stack, settings)


def docker_lab(target):
    return build_lab(target.site, target.settings, UserFiles(flink=read_user_files(PROJECT).flink))


def docker_resources(target):
    """Return the resources of a lab on Docker by key."""
    return {resource.key: resource for resource in target.render(docker_lab(target))}
