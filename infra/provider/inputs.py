# SPDX-License-Identifier: Apache-2.0
"""What each kind is given. The program imports this alone: what the kinds talk with takes a second to import."""

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from infra.provider.preflight import Preflight

RUNNING = "RUNNING"
"""The state that is wanted of what runs in a cluster: Connect and Flink have one word for it."""

Compatibility = Literal[
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"
]


class Inputs(BaseModel):
    """Inputs of a kind. In Pulumi's state they are camelCase; an unknown one is refused."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True
    )

    def properties(self) -> dict[str, Any]:
        """The inputs as Pulumi keeps them: what is None is left out, as the engine would do."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class BucketInputs(Inputs):
    """`endpoint` is the URL of the store, `credentials` the file that holds the keys."""

    endpoint: str
    bucket: str
    credentials: str


class ConnectorInputs(Inputs):
    """`worker` is the URL of Connect's REST interface, `config` the connector's options but `name`.

    `cluster` is the id of the Kafka cluster that the worker must work for: whatever else answers is not touched.
    Secrets are in `config` as references alone (`${provider:key}`). `state` is what the connector does, in one
    word: RUNNING is wanted, and found may be PAUSED, STOPPED, FAILED or STARTING.
    """

    worker: str
    cluster: str
    connector: str
    config: dict[str, str]
    state: str = RUNNING


class ContainerReadyInputs(Inputs):
    """A container, and how to tell that it is ready.

    Attributes:
        container: its id.
        service: the service's name, for messages.
        probe: a command in the container that ends with 0 when the service answers; empty: it is ready once it has
            run for a second.
        seconds: how long that may take on a slow machine.
        stop_seconds: how long it is given to stop.
        may_end: it may end well, and is then left alone until the next refresh.
        memory_mib: its limit, for messages.
    """

    container: str
    service: str
    probe: list[str]
    seconds: int
    stop_seconds: int
    may_end: bool
    memory_mib: int


class CredentialsInputs(Inputs):
    """`path` is the file."""

    path: str


class CredentialsVolumeInputs(Inputs):
    """The volume, and what is copied to it.

    Attributes:
        volume: its name.
        path: of the file on this machine.
        image: any image that the daemon has. A container of it is made, and never started.
        labels: of that container.
        fingerprint: of the credentials: they are copied anew when they change.
    """

    volume: str
    path: str
    image: str
    labels: dict[str, str]
    fingerprint: str


class DatabaseInputs(Inputs):
    """`host` and `port` are the server's, `maintenance` the database to connect to for making another one.

    `credentials` is the file that holds the password of `user`.
    """

    host: str
    port: int
    user: str
    maintenance: str
    database: str
    credentials: str


class DockerHostInputs(Inputs):
    """What a stack asks of the daemon.

    Attributes:
        root: the stack's folder on this machine; it is removed with the resource.
        stack: its name, which its containers have as a label.
        checkout: tells it from a stack of that name of another checkout.
        ports: ports of this machine, by who wants them.
        memory_mib: what the services and the largest task take.
        disk_mib: what the lab writes.
        preflight: whether to refuse, where memory or disk are short.
    """

    root: str
    stack: str
    checkout: str
    ports: dict[str, int]
    memory_mib: int
    disk_mib: int
    preflight: Preflight


class EnvironmentFileInputs(Inputs):
    """`values` are shell variables in the clear; those of `secrets` are credentials, by their name.

    `fingerprint` is that of the credentials: the file follows when they change.
    """

    path: str
    values: dict[str, str]
    secrets: dict[str, str]
    credentials: str
    fingerprint: str


class FlinkJobInputs(Inputs):
    """A job and where it is to run.

    Attributes:
        rest: URL of the JobManager's REST interface.
        cluster: what the cluster's configuration calls it: whatever else answers is not touched.
        job: its name there.
        launcher: name of the service that submits it.
        definition: changes when what the launcher submits does.
        notes: the file in which the launcher keeps why a job could not be submitted;
            empty where it cannot be read from here.
        state: Flink's word for what it does. RUNNING is wanted.
    """

    rest: str
    cluster: str
    job: str
    launcher: str
    definition: str
    notes: str = ""
    state: str = RUNNING


class ProbeInputs(Inputs):
    """Ready is a connection to `host:port`, or a 2xx answer to `path` where one is given."""

    host: str
    port: int
    path: str
    seconds: int


class ProcessInputs(Inputs):
    """A program.

    Attributes:
        root: the stack's folder (`infra.targets.local.supervisor`).
        program: its name, unique in the stack.
        script: the shell script that becomes the program.
        files: configuration files by name.
        volumes: folders that outlive the program.
        stays: a service (started now, kept running) rather than a task (started by `lab run`).
        probe: how to tell that it is ready; None: it is once it has run for a second.
        stop_seconds: time between `stop_signal` and SIGKILL.
        stop_signal: what asks it to stop.
        restart: `always`, or `on_failure` for a service that may end well and is then left alone.
        ports: what it binds, by what for: refused where somebody else has one already.
        fingerprint: of the credentials: it restarts when they change.
        revision: of the code and jars it runs: it restarts when they change.
    """

    root: str
    program: str
    script: str
    files: dict[str, str]
    volumes: list[str]
    stays: bool
    stop_seconds: int
    fingerprint: str
    revision: str
    ports: dict[str, int] = Field(default_factory=dict)
    stop_signal: Literal["TERM", "INT"] = "TERM"
    restart: Literal["always", "on_failure"] = "always"
    probe: ProbeInputs | None = None


class SubjectInputs(Inputs):
    """`registry` is the root of the registry's Confluent API, `avro` the schema as JSON text."""

    registry: str
    subject: str
    avro: str
    compatibility: Compatibility

    @field_validator("avro")
    @classmethod
    def _is_avro(cls, text: str) -> str:
        """One spelling for equal schemas. The registry only says of a broken one that it is none."""
        import fastavro  # brings readers and writers of which nothing else has a use
        from fastavro.schema import SchemaParseException, UnknownType

        try:
            schema = json.loads(text)
            fastavro.parse_schema(schema)
        except (json.JSONDecodeError, SchemaParseException, UnknownType, KeyError, TypeError) as error:
            raise ValueError(f"is no Avro schema: {type(error).__name__} {error}") from error
        return json.dumps(schema, separators=(",", ":"))


class SupervisorInputs(Inputs):
    """`root` is the stack's folder; it is removed with the resource. `ports` says who wants which port."""

    root: str
    ports: dict[str, int]
    memory_mib: int
    disk_mib: int
    preflight: Preflight


class ColumnInputs(Inputs):
    """A column. `type` is written as Postgres understands it; `required` is NOT NULL."""

    name: str
    type: str
    required: bool = False


class TableInputs(Inputs):
    """A table in schema `public` of a database of the server at `host` and `port`.

    `replica_identity` says how much of a row's old version is in the log for those who capture changes: its key
    (`default`), all of it (`full`), or none. `credentials` is the file that holds the password of `user`.
    """

    host: str
    port: int
    user: str
    database: str
    credentials: str
    table: str
    columns: list[ColumnInputs] = Field(min_length=1)
    primary_key: list[str] = Field(default_factory=list)
    replica_identity: Literal["default", "full", "nothing"] = "default"


class TopicInputs(Inputs):
    """`config` holds the topic-level settings that are not the broker's defaults.

    `cluster` is the id of the cluster that is meant: whatever else answers at `bootstrap` is not touched.
    """

    bootstrap: str
    cluster: str
    topic: str
    partitions: int
    config: dict[str, str]
