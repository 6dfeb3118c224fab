# SPDX-License-Identifier: Apache-2.0
"""Pinned versions and hashes: Maven coordinates, vendors' downloads, minimum versions of the machine's tools.

The transitive closure of each Maven component is pinned in `locks/`, Python packages in `requirements/`, Go
modules by the `go.sum` files in `toolchain/`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

MINIMUM_PYTHON = (3, 11)
MINIMUM_JDK = (17,)
MINIMUM_MAVEN = (3, 8)
MINIMUM_NODE = (20, 19)
"""Minimum of Vite, which builds the lineage page."""

MINIMUM_GO = (1, 26, 6)
"""The `go` line of `infra/toolchain/go/engine/go.mod`."""

MINIMUM_PULUMI = (3, 255, 0)
"""Oldest CLI tested with the SDK in `requirements/kit.in`."""

OTHER_MAVEN = "org.apache.maven:apache-maven:3.9.11:bin:tar.gz"
"""Second Maven with which the files of builds are locked, as each release adds its own to those of a plugin."""

MAVEN_DEPENDENCY_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"

_KAFKA = "4.3.1"
_BROKER = "4.2.1"
"""Brokers of 4.3.1 and 4.4.0 lose transaction markers while they stop and start (KAFKA-20734): a transaction that its
coordinator has completed stays open in its partitions, and consumers with `read_committed` never get past it."""

_LOG4J = "2.25.4"
_ICEBERG = "1.12.0"
_HADOOP = "3.4.3"
_SPARK_HADOOP = "3.4.2"
_BUNDLED_AWS_SDK = "2.54.17"
_SCALA = "2.13"
_FLINK_ICEBERG = "1.11.0"
"""Newest published release for Flink 2."""


@dataclass(frozen=True)
class MavenComponent:
    """Jars from a Maven registry.

    Attributes:
        name: name of the component.
        coordinates: `group:artifact:version`, or `group:artifact:version:classifier:extension` for other files than
            plain jars; the classifier may be empty.
        transitive: include dependencies; False if they are on the class path of the program that loads the jars.
        exclusions: excluded dependencies, `group:artifact`.
        optional: not every registry has the component. The lab works without it; if it has no lock, downloaded files
            are not verified.
    """

    name: str
    coordinates: tuple[str, ...]
    transitive: bool = True
    exclusions: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class ProjectComponent:
    """Jar that is built from a module of the Maven reactor `components/`, and its runtime dependencies.

    `folder` is the module's folder relative to the reactor; empty if it has the component's name.
    """

    name: str
    folder: str = ""

    @property
    def module(self) -> str:
        """Folder of the module, relative to the reactor."""
        return self.folder or self.name


@dataclass(frozen=True)
class ArchiveComponent:
    """Self-contained program that a Maven registry publishes as an archive.

    Attributes:
        name: name of the component.
        coordinates: platform (`cache.platform_tag`) -> its archive, or `ANY_PLATFORM` -> the archive for all.
        kept: folders below the archive's top-level folder that become the component; empty for the whole archive.
    """

    name: str
    coordinates: Mapping[str, str]
    kept: tuple[str, ...] = ()

    def coordinate(self, platform: str) -> str | None:
        """Return the archive for a platform; None if there is none."""
        return self.coordinates.get(platform) or self.coordinates.get(ANY_PLATFORM)


ANY_PLATFORM = "any"


@dataclass(frozen=True)
class DistributionComponent:
    """Program that a Python package index publishes as a source archive, with additional jars from a Maven registry.

    Attributes:
        name: name of the component, and of the file in `requirements/` that locks the archive.
        extracted: path in the archive, below its top-level folder -> folder in the component.
        coordinates: folder in the component -> jars added to it, without dependencies.
    """

    name: str
    extracted: Mapping[str, str]
    coordinates: Mapping[str, tuple[str, ...]]

    @property
    def jars(self) -> MavenComponent:
        """Jars from the Maven registry."""
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
        f"org.apache.kafka:kafka_{_SCALA}:{_BROKER}",
        f"org.apache.kafka:kafka-server:{_BROKER}",
        f"org.apache.kafka:kafka-tools:{_BROKER}",
        *_LOGGING,
    ),
    # The tools depend on all of Connect for one command about connector plugins.
    exclusions=("org.apache.kafka:connect-runtime",),
)

CONNECT = MavenComponent(
    name="connect",
    coordinates=(
        *(f"org.apache.kafka:connect-{part}:{_KAFKA}" for part in ("runtime", "json", "transforms", "mirror")),
        *_LOGGING,
    ),
)

OTHER_CONNECTS = tuple(
    MavenComponent(
        name=f"connect-{release.rpartition('.')[0]}",
        coordinates=(
            *(f"org.apache.kafka:connect-{part}:{release}" for part in ("runtime", "json", "transforms")),
            *_LOGGING,
        ),
        exclusions=("ch.qos.reload4j:reload4j", "org.slf4j:slf4j-reload4j"),
    )
    for release in ("3.7.2", "3.9.2", "4.0.2")
)
"""Other releases of Connect that the lineage plugin supports."""

_PROVIDED_BY_WORKER = ("org.slf4j:*", "org.apache.kafka:*")
"""Exclusions of connector plugins: a second copy in the plugin's folder would define the classes twice."""

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
    exclusions=_PROVIDED_BY_WORKER,
)

DEBEZIUM_POSTGRES = ArchiveComponent(
    name="debezium-postgres",
    coordinates={ANY_PLATFORM: "io.debezium:debezium-connector-postgres:3.6.3.Final:plugin:tar.gz"},
)

# Its releases on Maven Central differ from those of the source connectors.
DEBEZIUM_JDBC = ArchiveComponent(
    name="debezium-jdbc",
    coordinates={ANY_PLATFORM: "io.debezium:debezium-connector-jdbc:3.6.0.Final:plugin:tar.gz"},
)
"""A sink that the lineage plugin supports."""

# The newest release on Maven Central.
STRIMZI_API = MavenComponent(name="strimzi-api", coordinates=("io.strimzi:api:0.51.0",))
"""Strimzi's classes of its resources, with which the manifest of the lineage plugin is read."""

DELTA_LAKE = MavenComponent(
    name="delta-lake",
    coordinates=("io.delta:delta-spark_4.1_2.13:4.1.0", "io.delta:delta-storage:4.1.0"),
    transitive=False,
)
"""Tables of Delta Lake, which the Spark integration supports."""

OTHER_DELTA_LAKES = {
    release: MavenComponent(
        name=f"delta-lake-{release}",
        coordinates=(f"io.delta:delta-spark_{scala}:{delta}", f"io.delta:delta-storage:{delta}"),
        transitive=False,
    )
    for release, scala, delta in (("3.5", "2.12", "3.3.2"), ("4.0", "2.13", "4.0.0"))
}
"""Release of Spark -> the release of Delta Lake for it; each is supported by the Spark integration."""

APICURIO_REGISTRY = ArchiveComponent(
    name="apicurio-registry",
    coordinates={ANY_PLATFORM: "io.apicurio:apicurio-registry-app:3.3.3:all:tar.gz"},
)

# The newest release on Maven Central. Its plugins are hard links to one copy of each jar.
TRINO = ArchiveComponent(
    name="trino",
    coordinates={ANY_PLATFORM: "io.trino:trino-server:476::tar.gz"},
    kept=("lib", "plugin/iceberg", "plugin/http-event-listener"),
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
        # s3a: the release of PySpark's Hadoop, and the two modules of the AWS SDK that Iceberg's bundle omits.
        f"org.apache.hadoop:hadoop-aws:{_SPARK_HADOOP}",
        f"software.amazon.awssdk:s3-transfer-manager:{_BUNDLED_AWS_SDK}",
        f"software.amazon.awssdk:apache-client:{_BUNDLED_AWS_SDK}",
    ),
    transitive=False,
)

# No Maven artefact contains all jars of Flink's distribution; its Python package does.
FLINK = DistributionComponent(
    name="flink",
    extracted={
        "deps/lib": "lib",
        # In a folder of its own: `flink-sql-lineage`, which reads plans, replaces the loader by the planner.
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
CONNECT_RESTARTS = ProjectComponent(name="connect-restarts")
REST_GUARD = ProjectComponent(name="rest-guard")
FLINK_LINEAGE_TRANSPORT = ProjectComponent(name="flink-lineage-transport")
SPOOL_TRANSPORT = ProjectComponent(name="spool-transport", folder="../integrations/spool-transport")
FLINK_SQL_LINEAGE = ProjectComponent(name="flink-sql-lineage", folder="../integrations/flink/sql-lineage")
SUPPLIER_WINDOWS = ProjectComponent(name="supplier-windows", folder="../jobs/flink/supplier-windows")

MARQUEZ = MavenComponent(name="marquez", coordinates=("io.github.marquezproject:marquez-api:0.50.0",), optional=True)

# Only tests use it: a real metastore for the catalog integration. PyIceberg does not know Hive 4.
HIVE_METASTORE = MavenComponent(
    name="hive-metastore",
    coordinates=(
        "org.apache.hive:hive-standalone-metastore:3.1.3",
        f"org.apache.hadoop:hadoop-client-runtime:{_HADOOP}",
        f"org.apache.hadoop:hadoop-hdfs:{_HADOOP}",
        # It requires an old Hadoop, which is excluded, and these by way of it.
        "commons-cli:commons-cli:1.9.0",
        "commons-collections:commons-collections:3.2.2",
        "commons-lang:commons-lang:2.6",
        "commons-configuration:commons-configuration:1.10",
        "org.codehaus.jackson:jackson-mapper-asl:1.9.13",
        *_LOGGING,
    ),
    exclusions=(
        "jdk.tools:jdk.tools",
        "log4j:log4j",
        "org.slf4j:slf4j-log4j12",
        *(f"org.apache.hadoop:hadoop-{part}" for part in ("annotations", "auth", "common")),
        "org.slf4j:slf4j-reload4j",
        "ch.qos.reload4j:reload4j",
    ),
)

_POSTGRES = "15.18.0"

# The builds for arm64 (Linux and macOS) are not pinned: no hash of them was available. `lab doctor` says so.
POSTGRES = ArchiveComponent(
    name="postgres",
    coordinates={
        platform: f"io.zonky.test.postgres:embedded-postgres-binaries-{name}:{_POSTGRES}"
        for platform, name in (("linux-x86_64", "linux-amd64"), ("darwin-x86_64", "darwin-amd64"))
    },
)

Component = MavenComponent | ProjectComponent | ArchiveComponent | DistributionComponent

_OF_OTHER_RELEASES: tuple[Component, ...] = (*OTHER_CONNECTS, *OTHER_DELTA_LAKES.values())
ONLY_IN_TESTS: tuple[Component, ...] = (*_OF_OTHER_RELEASES, DEBEZIUM_JDBC, STRIMZI_API, DELTA_LAKE)

COMPONENTS: dict[str, Component] = {
    component.name: component
    for component in (
        *(KAFKA, CONNECT, CONNECT_FILE, ICEBERG_SINK, DEBEZIUM_POSTGRES, APICURIO_REGISTRY),
        *(SPARK, ICEBERG_REST_CATALOG, REGISTRY_CONVERTER, S3_ARCHIVE_SINK, CONNECT_LINEAGE, MARQUEZ, POSTGRES),
        *(
            FLINK,
            FLINK_LINEAGE_TRANSPORT,
            SPOOL_TRANSPORT,
            CONNECT_RESTARTS,
            REST_GUARD,
            FLINK_SQL_LINEAGE,
            SUPPLIER_WINDOWS,
            HIVE_METASTORE,
            TRINO,
        ),
    )
} | {component.name: component for component in ONLY_IN_TESTS}


@dataclass(frozen=True)
class VendorFile:
    """File published by a vendor. `urls` are mirrors of the same file, tried in order."""

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


# Hashes are published by or for the vendors: the newest release whose hash two sources confirm; for macOS, the one in
# Pulumi's test data. If a hash does not match, the download is discarded and the CLI is built from source.
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
