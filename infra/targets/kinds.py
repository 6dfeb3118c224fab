# SPDX-License-Identifier: Apache-2.0
"""Every resource kind of the provider: those inside services and those of each target."""

from infra.provider.kinds import MODULES, Kinds
from infra.provider.notes import register_reader
from infra.targets.docker.container_notes import SCHEME as CONTAINER_SCHEME
from infra.targets.docker.container_notes import read_container_file
from infra.targets.docker.kinds import MODULES as DOCKER_MODULES
from infra.targets.kubernetes.kinds import MODULES as KUBERNETES_MODULES
from infra.targets.kubernetes.pod_notes import SCHEME as POD_SCHEME
from infra.targets.kubernetes.pod_notes import read_pod_file
from infra.targets.local.kinds import MODULES as LOCAL_MODULES

KINDS = Kinds({**MODULES, **LOCAL_MODULES, **DOCKER_MODULES, **KUBERNETES_MODULES})

register_reader(CONTAINER_SCHEME, read_container_file)
register_reader(POD_SCHEME, read_pod_file)
