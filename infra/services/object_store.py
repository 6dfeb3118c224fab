# SPDX-License-Identifier: Apache-2.0
"""Object store: MinIO, which stores Iceberg tables, the archive and checkpoints over S3."""

from pydantic import Field

from infra import credentials
from infra.model import (
    Address,
    Binary,
    Bucket,
    Endpoint,
    ExternalObjectStore,
    Probe,
    Resource,
    Service,
    Site,
    external_settings,
)
from infra.namespaces import ARCHIVE_BUCKET, CHECKPOINT_BUCKET, WAREHOUSE_BUCKET
from infra.services import tls
from infra.services.definition import EVERY_PROFILE, FULL, External, ServiceDefinition, WebPage
from infra.services.external import UrlSetting, is_external, parse_url
from infra.settings import Settings, SettingsSection

NAME = "object_store"
S3 = Endpoint("s3", 9000, scheme="http", published_as="s3", tls=True)
CONSOLE = Endpoint("console", 9001, scheme="http", published_as="s3_console", tls=True)
ENDPOINTS = (S3, CONSOLE)

DATA = "data"
CERTIFICATES = "certificates"


class ObjectStoreSettings(SettingsSection):
    """Settings of the object store."""

    external_s3: UrlSetting = Field(
        "",
        description="existing S3 object store: its endpoint URL; keys: LINEAGE_LAB_S3_ACCESS_KEY and "
        "LINEAGE_LAB_S3_SECRET_KEY in the environment of `up`; empty: the lab runs MinIO",
    )


def bucket(site: Site, name: str) -> Bucket:
    """Return a bucket of the object store."""
    return Bucket(
        name=name,
        endpoint=site.address(NAME, S3.name, "outside").url,
        credentials=site.client_credentials,
        external=is_external(site, NAME),
        needs=(NAME,),
    )


def object_store_service(site: Site, settings: Settings) -> Service:
    """Return the object store; without `--certs-dir`, MinIO would create a folder in the user's home."""
    return Service(
        name=NAME,
        run=Binary(
            "minio",
            (
                "server",
                site.volume(NAME, DATA),
                "--address",
                str(site.listen(NAME, S3.name)),
                "--console-address",
                str(site.listen(NAME, CONSOLE.name)),
                "--certs-dir",
                tls.folder(site, NAME) if site.tls else site.volume(NAME, CERTIFICATES),
            ),
        ),
        endpoints=ENDPOINTS,
        ready=Probe(S3.name, "/minio/health/live"),
        volumes=(DATA, CERTIFICATES),
        env={
            "MINIO_UPDATE": "off",
            "MINIO_CALLHOME_ENABLE": "off",
            # By default pages of every origin read the responses.
            "MINIO_API_CORS_ALLOW_ORIGIN": site.address(NAME, CONSOLE.name, "outside").url,
        },
        secrets={
            "MINIO_ROOT_USER": credentials.S3_ACCESS_KEY,
            "MINIO_ROOT_PASSWORD": credentials.S3_SECRET_KEY,
        },
        memory_mib=256,
    )


def _resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    lake = (WAREHOUSE_BUCKET, CHECKPOINT_BUCKET) if settings.profile == FULL else ()
    return tuple(bucket(site, name) for name in (*lake, ARCHIVE_BUCKET))


def _client_environment(site: Site) -> dict[str, str]:
    authority = tls.client_authority(site)
    return {
        "AWS_ENDPOINT_URL_S3": site.address(NAME, S3.name, "outside").url,
        "AWS_REGION": credentials.S3_REGION,
        **({"AWS_CA_BUNDLE": authority} if authority else {}),
    }


def _external_address(settings: Settings) -> Address | None:
    url = settings.section(ObjectStoreSettings).external_s3
    return parse_url(url) if url else None


def _external_store(site: Site) -> ExternalObjectStore:
    endpoint = site.address(NAME, S3.name, "outside").url
    return ExternalObjectStore(name=NAME, endpoint=endpoint, credentials=site.client_credentials)


S3_CREDENTIALS = (credentials.S3_ACCESS_KEY, credentials.S3_SECRET_KEY)

DEFINITION = ServiceDefinition(
    name=NAME,
    title="Object store",
    build=object_store_service,
    endpoints=ENDPOINTS,
    external=External(external_settings.OBJECT_STORE, _external_address, _external_store, S3_CREDENTIALS),
    settings=ObjectStoreSettings,
    components=("minio",),
    resources=_resources,
    client_environment=_client_environment,
    client_secrets={
        "AWS_ACCESS_KEY_ID": credentials.S3_ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": credentials.S3_SECRET_KEY,
    },
    web_page=WebPage(CONSOLE, ""),
    profiles=EVERY_PROFILE,
    position=50,
)
