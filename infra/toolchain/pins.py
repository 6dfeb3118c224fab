# SPDX-License-Identifier: Apache-2.0
"""Every version and hash of what is not Python: Maven coordinates, vendors' downloads, tools' least versions.

The transitive closure of each Maven component is pinned in `locks/`, Python packages in `requirements/`, Go
modules by the `go.sum` files in `toolchain/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MINIMUM_PYTHON = (3, 11)
MINIMUM_JDK = (17,)
MINIMUM_MAVEN = (3, 8)
MINIMUM_NODE = (20, 19)
"""What Vite asks for, which builds the lineage page."""

MINIMUM_GO = (1, 26, 6)
"""What the `go` line of `toolchain/engine/go.mod` asks for."""

MINIMUM_PULUMI = (3, 255, 0)
"""The oldest CLI that was tried with the SDK in `requirements/kit.in`."""

MAVEN_DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"

_KAFKA = "4.3.1"
_LOG4J = "2.25.4"
_ICEBERG = "1.12.0"
_HADOOP = "3.4.3"
_SPARK_HADOOP = "3.4.2"
_BUNDLED_AWS_SDK = "2.54.17"
_SCALA = "2.13"
_FLINK_ICEBERG = "1.11.0"
"""The newest release for Flink 2 that registries have."""


@dataclass(frozen=True)
class MavenComponent:
    """Jars that come from a registry.

    `coordinates` are `group:artifact:version`, or `group:artifact:version:classifier:extension` for what is no
    plain jar. Where `transitive` is false, they are all there is: the dependencies are on the class path of what
    loads the jars. `exclusions` are `group:artifact`. `optional` is what not every registry has: the lab goes on
    without it, and where nobody could lock it, what arrives is taken as it is.
    """

    name: str
    coordinates: tuple[str, ...]
    transitive: bool = True
    exclusions: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class ProjectComponent:
    """A jar that is built from a module of the Maven reactor `components/`, and its runtime dependencies.

    `folder` is the module's, seen from the reactor; empty where it is called as the component is.
    """

    name: str
    folder: str = ""

    @property
    def module(self) -> str:
        """The module's folder, seen from the reactor."""
        return self.folder or self.name


@dataclass(frozen=True)
class ArchiveComponent:
    """What a registry has as an archive, with everything that belongs to it.

    `coordinates` is platform (`cache.platform_tag`) -> the file for it, or `ANY_PLATFORM` -> the one for all.
    """

    name: str
    coordinates: Mapping[str, str]

    def coordinate(self, platform: str) -> str | None:
        """The file for one platform; None where there is none."""
        return self.coordinates.get(platform) or self.coordinates.get(ANY_PLATFORM)


ANY_PLATFORM = "any"


@dataclass(frozen=True)
class DistributionComponent:
    """A program that a package index has as an archive, with jars from a Maven registry beside its own.

    Attributes:
        name: also that of the file in `requirements/` that locks the archive.
        kept: path in the archive, below its topmost folder -> folder of the component that it becomes.
        coordinates: folder of the component -> what is put into it, without dependencies.
    """

    name: str
    kept: Mapping[str, str]
    coordinates: Mapping[str, tuple[str, ...]]

    @property
    def jars(self) -> MavenComponent:
        """What comes from the registry."""
        everything = tuple(text for coordinates in self.coordinates.values() for text in coordinates)
        return MavenComponent(self.name, everything, transitive=False)


_LOGGING = (
    f"org.apache.logging.log4j:log4j-slf4j-impl:{_LOG4J}",
    f"org.apache.logging.log4j:log4j-core:{_LOG4J}",
    f"org.apache.logging.log4j:log4j-1.2-api:{_LOG4J}",
)


KAFKA = MavenComponent(
    name="kafka",
    coordinates=(
        f"org.apache.kafka:kafka_{_SCALA}:{_KAFKA}",
        f"org.apache.kafka:kafka-server:{_KAFKA}",
        f"org.apache.kafka:kafka-tools:{_KAFKA}",
        *_LOGGING,
    ),
    # The tools drag in all of Connect for one command about connector plugins.
    exclusions=("org.apache.kafka:connect-runtime",),
)

CONNECT = MavenComponent(
    name="connect",
    coordinates=(
        *(f"org.apache.kafka:connect-{part}:{_KAFKA}" for part in ("runtime", "json", "transforms", "mirror")),
        *_LOGGING,
    ),
)

_GIVEN_BY_THE_WORKER = ("org.slf4j:*", "org.apache.kafka:*")
"""A second copy in a plugin's folder would be another class of the same name."""

CONNECT_FILE = MavenComponent(
    name="connect-file", coordinates=(f"org.apache.kafka:connect-file:{_KAFKA}",), transitive=False
)

ICEBERG_SINK = MavenComponent(
    name="iceberg-sink",
    coordinates=(
        f"org.apache.iceberg:iceberg-kafka-connect:{_ICEBERG}",
        f"org.apache.iceberg:iceberg-kafka-connect-transforms:{_ICEBERG}",
        f"org.apache.iceberg:iceberg-parquet:{_ICEBERG}",
        f"org.apache.iceberg:iceberg-aws:{_ICEBERG}",
        f"org.apache.iceberg:iceberg-aws-bundle:{_ICEBERG}",
        f"org.apache.hadoop:hadoop-client-api:{_HADOOP}",
        f"org.apache.hadoop:hadoop-client-runtime:{_HADOOP}",
    ),
    exclusions=_GIVEN_BY_THE_WORKER,
)

DEBEZIUM_POSTGRES = ArchiveComponent(
    name="debezium-postgres",
    coordinates={ANY_PLATFORM: "io.debezium:debezium-connector-postgres:3.6.3.Final:plugin:tar.gz"},
)

APICURIO_REGISTRY = ArchiveComponent(
    name="apicurio-registry",
    coordinates={ANY_PLATFORM: "io.apicurio:apicurio-registry-app:3.3.3:all:tar.gz"},
)

SPARK = MavenComponent(
    name="spark",
    coordinates=(
        f"org.apache.iceberg:iceberg-spark-runtime-4.1_{_SCALA}:{_ICEBERG}",
        f"org.apache.iceberg:iceberg-aws-bundle:{_ICEBERG}",
        f"io.openlineage:openlineage-spark_{_SCALA}:1.53.0",
        f"org.apache.spark:spark-sql-kafka-0-10_{_SCALA}:4.1.3",
        f"org.apache.spark:spark-token-provider-kafka-0-10_{_SCALA}:4.0.0",
        f"org.apache.spark:spark-avro_{_SCALA}:4.1.1",
        "org.apache.kafka:kafka-clients:3.9.1",
        "org.apache.commons:commons-pool2:2.12.1",
        # s3a: of the release that PySpark's Hadoop is, and the two parts of the SDK that Iceberg's bundle leaves out.
        f"org.apache.hadoop:hadoop-aws:{_SPARK_HADOOP}",
        f"software.amazon.awssdk:s3-transfer-manager:{_BUNDLED_AWS_SDK}",
        f"software.amazon.awssdk:apache-client:{_BUNDLED_AWS_SDK}",
    ),
    transitive=False,
)

# Flink's own jars are in no Maven registry as a whole; its Python packages bring all of them.
FLINK = DistributionComponent(
    name="flink",
    kept={
        "deps/lib": "lib",
        # Apart from the rest: who looks into plans (`flink-sql-lineage`) has the planner itself in its place.
        "deps/lib/flink-table-planner-loader-2.2.1.jar": "planner",
        "deps/plugins/metrics-prometheus": "plugins/metrics-prometheus",
    },
    coordinates={
        "lib": (
            "org.apache.flink:flink-sql-gateway:2.2.1",
            "org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2",
            "org.apache.flink:flink-sql-avro-confluent-registry:2.2.0",
            f"org.apache.iceberg:iceberg-flink-runtime-2.1:{_FLINK_ICEBERG}",
            f"org.apache.iceberg:iceberg-aws-bundle:{_FLINK_ICEBERG}",
            f"org.apache.hadoop:hadoop-client-api:{_HADOOP}",
            f"org.apache.hadoop:hadoop-client-runtime:{_HADOOP}",
            "commons-logging:commons-logging:1.2",
            "io.openlineage:openlineage-flink:1.53.0",
        ),
        "plugins/s3-fs-hadoop": ("org.apache.flink:flink-s3-fs-hadoop:2.2.0",),
    },
)

ICEBERG_REST_CATALOG = ProjectComponent(name="iceberg-rest-catalog")
REGISTRY_CONVERTER = ProjectComponent(name="registry-converter")
S3_ARCHIVE_SINK = ProjectComponent(name="s3-archive-sink")
CONNECT_LINEAGE = ProjectComponent(name="connect-lineage", folder="../smt")
FLINK_SQL_LINEAGE = ProjectComponent(name="flink-sql-lineage", folder="../integrations/flink/sql-lineage")
SUPPLIER_WINDOWS = ProjectComponent(name="supplier-windows", folder="../jobs/flink/supplier-windows")

MARQUEZ = MavenComponent(name="marquez", coordinates=("io.github.marquezproject:marquez-api:0.50.0",), optional=True)

_POSTGRES = "15.18.0"

# Of the builds for arm64 (Linux and macOS) no hash could be had.
POSTGRES = ArchiveComponent(
    name="postgres",
    coordinates={
        platform: f"io.zonky.test.postgres:embedded-postgres-binaries-{name}:{_POSTGRES}"
        for platform, name in (("linux-x86_64", "linux-amd64"), ("darwin-x86_64", "darwin-amd64"))
    },
)

Component = MavenComponent | ProjectComponent | ArchiveComponent | DistributionComponent

COMPONENTS: dict[str, Component] = {
    component.name: component
    for component in (
        *(KAFKA, CONNECT, CONNECT_FILE, ICEBERG_SINK, DEBEZIUM_POSTGRES, APICURIO_REGISTRY),
        *(SPARK, ICEBERG_REST_CATALOG, REGISTRY_CONVERTER, S3_ARCHIVE_SINK, CONNECT_LINEAGE, MARQUEZ, POSTGRES),
        *(FLINK, FLINK_SQL_LINEAGE, SUPPLIER_WINDOWS),
    )
}


@dataclass(frozen=True)
class VendorFile:
    """One file that a vendor publishes. `urls` are tried in turn; all of them must give the same bytes."""

    version: str
    urls: tuple[str, ...]
    sha256: str


def _pulumi(version: str, platform: str, sha256: str) -> VendorFile:
    file = f"pulumi-v{version}-{platform}.tar.gz"
    return VendorFile(
        version,
        (
            f"https://get.pulumi.com/releases/sdk/{file}",
            f"https://github.com/pulumi/pulumi/releases/download/v{version}/{file}",
        ),
        sha256,
    )


def _minio(platform: str, sha256: str) -> VendorFile:
    version = "RELEASE.2025-09-07T16-13-09Z"
    return VendorFile(
        version,
        (
            f"https://github.com/minio/minio/releases/download/{version}/minio.{platform}.{version}",
            f"https://dl.min.io/server/minio/release/{platform}/archive/minio.{version}",
        ),
        sha256,
    )


# Hashes as published by or for the vendors: the newest release whose hash two sources agree on, for macOS the
# one that Pulumi's own test data lists. A wrong one costs a download; the CLI is then built from source.
PULUMI_DOWNLOADS: dict[str, VendorFile] = {
    "linux-x86_64": _pulumi("3.255.0", "linux-x64", "cf559568e2c32f7fae56ea3de8ae5fa48973ba8c5aa9dd2b3dc0c8898fe50dba"),
    "linux-aarch64": _pulumi(
        "3.255.0", "linux-arm64", "699fbc6ea848d997e9b3645487f108d27b1b55ec807c7576406131e6e080f0e3"
    ),
    "darwin-x86_64": _pulumi(
        "3.257.0", "darwin-x64", "d5e2155d59cf65fadedd63d8af28e82b286d94a4c2b80cfaaedd76418b840298"
    ),
    "darwin-arm64": _pulumi(
        "3.257.0", "darwin-arm64", "a8bb6c8828bb6c716ed1d08cc3d94ca7a2435ed9c7d208705f422529d39614a0"
    ),
}

MINIO_DOWNLOADS: dict[str, VendorFile] = {
    "linux-x86_64": _minio("linux-amd64", "7c5bd8512c6e966455b1d198209358b2d191c77a83ab377c4073281065fb855f"),
    "linux-aarch64": _minio("linux-arm64", "5c83cd2cf151717ba0243f73e1c7802ff36e272b67144bdd7f1f7d684fd6f03d"),
    "darwin-x86_64": _minio("darwin-amd64", "4759080aeef7385aaceaac1131c30aaeb99605921553967dc6d3ef4e16ac64f9"),
    "darwin-arm64": _minio("darwin-arm64", "7c3b3039b76e55a1b80935848ed83998d5e8d317374f87851f46a019ff5c0aa4"),
}
