# SPDX-License-Identifier: Apache-2.0
"""Every kind that the provider serves, by name."""

from typing import Any

from infra.provider.kind import Kind
from infra.provider.kinds.bucket import BucketKind
from infra.provider.kinds.connector import ConnectorKind
from infra.provider.kinds.container_ready import ContainerReadyKind
from infra.provider.kinds.credentials import CredentialsKind
from infra.provider.kinds.credentials_volume import CredentialsVolumeKind
from infra.provider.kinds.database import DatabaseKind
from infra.provider.kinds.docker_host import DockerHostKind
from infra.provider.kinds.environment_file import EnvironmentFileKind
from infra.provider.kinds.flink_job import FlinkJobKind
from infra.provider.kinds.process import ProcessKind
from infra.provider.kinds.subject import SubjectKind
from infra.provider.kinds.supervisor import SupervisorKind
from infra.provider.kinds.table import TableKind
from infra.provider.kinds.topic import TopicKind

KINDS: dict[str, Kind[Any]] = {
    kind.name: kind
    for kind in (
        BucketKind(),
        ConnectorKind(),
        ContainerReadyKind(),
        CredentialsKind(),
        CredentialsVolumeKind(),
        DatabaseKind(),
        DockerHostKind(),
        EnvironmentFileKind(),
        FlinkJobKind(),
        ProcessKind(),
        SubjectKind(),
        SupervisorKind(),
        TableKind(),
        TopicKind(),
    )
}
