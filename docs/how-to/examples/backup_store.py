# SPDX-License-Identifier: Apache-2.0
"""A second object store for backups: an example of a service that one file adds to the lab."""

from pydantic import Field

from infra import credentials
from infra.model import Binary, Endpoint, Probe, Service, Site
from infra.services.definition import ServiceDefinition, WebPage
from infra.settings import Settings, SettingsSection

NAME = "backup_store"
S3 = Endpoint("s3", 9100, scheme="http", published_as="backup_store")
CONSOLE = Endpoint("console", 9101, scheme="http")
CONFIG = "etc/minio.env"


class BackupStoreSettings(SettingsSection):
    """Settings of the backup store."""

    backup_store_memory_mib: int = Field(256, ge=128, description="memory of the backup store, MiB")


def backup_store(site: Site, settings: Settings) -> Service:
    """Return the MinIO server."""
    api, console = site.listen(NAME, S3.name), site.listen(NAME, CONSOLE.name)
    return Service(
        name=NAME,
        run=Binary(
            "minio", ("server", site.volume(NAME, "data"), "--address", str(api), "--console-address", str(console))
        ),
        endpoints=(S3, CONSOLE),
        ready=Probe(S3.name, "/minio/health/live"),
        files={CONFIG: "MINIO_UPDATE=off\n"},
        volumes=("data",),
        env={"MINIO_CONFIG_ENV_FILE": site.file(NAME, CONFIG)},
        secrets={"MINIO_ROOT_USER": credentials.S3_ACCESS_KEY, "MINIO_ROOT_PASSWORD": credentials.S3_SECRET_KEY},
        memory_mib=settings.section(BackupStoreSettings).backup_store_memory_mib,
    )


DEFINITION = ServiceDefinition(
    name=NAME,
    title="Backup store",
    build=backup_store,
    endpoints=(S3, CONSOLE),
    components=("minio",),
    settings=BackupStoreSettings,
    web_page=WebPage(CONSOLE),
)
