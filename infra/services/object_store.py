# SPDX-License-Identifier: Apache-2.0
"""MinIO: the S3 object store that holds the Iceberg tables."""

from infra import credentials
from infra.model import Binary, Endpoint, Probe, Service, Site
from infra.settings import Settings

NAME = "object_store"
S3 = Endpoint("s3", 9000, scheme="http", published_as="s3")
CONSOLE = Endpoint("console", 9001, scheme="http", published_as="s3_console")
ENDPOINTS = (S3, CONSOLE)

DATA = "data"
CERTIFICATES = "certificates"


def object_store(site: Site, settings: Settings) -> Service:
    """The store. It keeps to its folders: without `--certs-dir` it would make one in the user's home."""
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
                site.volume(NAME, CERTIFICATES),
            ),
        ),
        endpoints=ENDPOINTS,
        ready=Probe(S3.name, "/minio/health/live"),
        volumes=(DATA, CERTIFICATES),
        env={"MINIO_UPDATE": "off", "MINIO_CALLHOME_ENABLE": "off"},
        secrets={
            "MINIO_ROOT_USER": credentials.S3_ACCESS_KEY,
            "MINIO_ROOT_PASSWORD": credentials.S3_SECRET_KEY,
        },
        memory_mib=256,
    )
