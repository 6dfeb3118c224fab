# SPDX-License-Identifier: Apache-2.0
"""Services and tasks: the programs of a lab, independent of the target that runs them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Java:
    """Java program: a main class on the class path of one component.

    Attributes:
        component: the component (`infra.toolchain`) whose jars make the class path.
        main: fully qualified name of the main class.
        heap_mib: maximum heap (-Xmx), MiB.
        options: further JVM options, including system properties.
        jar: path of a user-supplied jar that replaces the component as class path; empty for none.
        class_path: locations of the jars, in the component's folder or absolute, separated by `:`.
        runtime: major version of the Java runtime; 17 and 21 come with the lab's prerequisites and packages, any other
            one is a JDK of the machine (`infra.toolchain.prerequisites.find_java_release`).
        components: further components whose folders the program reads at run time.
        packages: virtual environments whose files the program reads or whose Python it starts.
        reads: files of the project that the program reads; the service restarts when one of them changes.
    """

    component: str
    main: str
    heap_mib: int
    args: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    jar: str = ""
    class_path: str = "lib/*"
    runtime: int = 17
    components: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Python:
    """Python program: a module run with `python -m` in a virtual environment of the project.

    Attributes:
        uses: further packages or modules of the project; the service restarts when one of them changes.
        reads: other files of the project that the program reads; the service restarts when one of them changes.
        environment: virtual environment that holds the dependencies.
        packages: further virtual environments, whose Python the program starts, or whose packages it can import: it
            adds `Site.python_packages` to its path.
        components: components that the program reads or starts.
        java: the program starts Java processes on the jars of `components`, as PySpark does.
    """

    module: str
    args: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    environment: Literal["kit", "spark", "dbt", "dashboard", "models", "airflow", "trino"] = "kit"
    packages: tuple[str, ...] = ()
    components: tuple[str, ...] = ()
    java: bool = False


@dataclass(frozen=True)
class Binary:
    """Native program from the toolchain.

    Attributes:
        name: name of the executable.
        component: component that contains several programs, this one among them; empty for a stand-alone executable.
        unprivileged: the program refuses to run as root; a target that runs as root starts it as another user.
    """

    name: str
    args: tuple[str, ...] = ()
    component: str = ""
    unprivileged: bool = False


Program = Java | Python | Binary
"""Programs that the toolchain provides."""


@dataclass(frozen=True)
class PublicImage:
    """Public container image, run unmodified; only on targets that run images (`Site.runs_images`).

    Attributes:
        reference: name and tag of the image.
        program: path of its entry point, declared here because the lab does not query the registry. The image's
            working directory applies.
        remedy: short instruction for running a lab without the image; part of the error if it cannot be pulled.
    """

    reference: str
    program: str
    args: tuple[str, ...] = ()
    remedy: str = ""


Run = Program | PublicImage


def components_of(run: Run) -> tuple[str, ...]:
    """Return the components that a program needs, its own first."""
    match run:
        case Java():
            return (*(() if run.jar else (run.component,)), *run.components)
        case Python():
            return run.components
        case Binary():
            return (run.component,) if run.component else ()
        case PublicImage():
            return ()


@dataclass(frozen=True)
class Prepare:
    """Preparation step that runs to completion before a service starts.

    Attributes:
        run: program of the step.
        unless: path of a file or folder; the step is skipped if it exists. Empty: the step runs at every start.
        staged: temporary output path, for a step that cannot create `unless` atomically: removed before the step and
            renamed to `unless` after it, so that an interrupted step is repeated from the beginning.
        stdin: text for standard input. `$NAME` is replaced by the service's environment variable, which passes a
            secret without an argument.
    """

    run: Program
    unless: str = ""
    staged: str = ""
    stdin: str = ""


@dataclass(frozen=True)
class Endpoint:
    """Port that a service listens on.

    Attributes:
        name: unique within the service.
        port: conventional port; a target may map it to another one.
        scheme: `http` if clients use a URL, empty if they use `host:port`.
        published_as: name in the stack's outputs; empty for an internal endpoint.
        published_path: path of the API that clients outside use, part of the published URL.
        private: only the service itself connects to it; bound to loopback on every target.
        advertised: the service returns its own address to clients, so clients inside and outside of the target need
            separate listeners (`Site.listeners`) where their addresses differ.
        tls: it is encrypted in a lab with TLS (`Site.tls`).
    """

    name: str
    port: int
    scheme: str = ""
    published_as: str = ""
    published_path: str = ""
    private: bool = False
    advertised: bool = False
    tls: bool = False


@dataclass(frozen=True)
class Probe:
    """Readiness probe: the endpoint accepts connections, or responds to GET `path` with 2xx.

    Attributes:
        endpoint: name of one of the service's endpoints.
        path: HTTP path; empty for a TCP connection.
        seconds: timeout for the service to become ready, sized for a slow machine.
    """

    endpoint: str
    path: str = ""
    seconds: int = 120


@dataclass(frozen=True)
class Service:
    """Program that runs continuously.

    Attributes:
        name: unique in the lab; also its key.
        run: program of the service.
        endpoints: ports that it listens on.
        ready: readiness probe; None if a running process counts as ready.
        needs: keys of the parts that must exist first.
        prepare: steps that run to completion before `run`.
        files: configuration files: name -> text. Never contains a secret.
        volumes: names of folders that persist across restarts.
        env: environment variables.
        secrets: environment variables that hold a credential: variable -> name of the credential.
        secret_files: files that only the user of the program can read, written at every start: path -> text. `$NAME` is
            replaced by the service's environment variable.
        memory_mib: memory of one replica under load, MiB; used by the preflight check and as limit.
        restart: restart policy: `always`, or `on_failure` for a program that may complete.
        stop_seconds: grace period before the process is killed.
        stop_signal: signal that requests a graceful shutdown.
        replicas: number of equal instances; more than one only on a target that has `Site.own_host_variable`.
        executor: program of the pods that the program itself creates (`Site.executor_pods`); None if it creates none.
        replica_files: files that differ between replicas, one mapping for each; empty if none does.
    """

    name: str
    run: Run
    endpoints: tuple[Endpoint, ...] = ()
    ready: Probe | None = None
    needs: tuple[str, ...] = ()
    prepare: tuple[Prepare, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    volumes: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    secret_files: Mapping[str, str] = field(default_factory=dict)
    memory_mib: int = 256
    restart: Literal["always", "on_failure"] = "always"
    stop_seconds: int = 30
    stop_signal: Literal["TERM", "INT"] = "TERM"
    replicas: int = 1
    replica_files: tuple[Mapping[str, str], ...] = ()
    executor: "Task | None" = None

    @property
    def key(self) -> str:
        """Key by which other parts refer to it in `needs`."""
        return self.name


@dataclass(frozen=True)
class Task:
    """Program that runs to completion on request (`lab run NAME`). Attributes as in `Service`."""

    name: str
    run: Run
    needs: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    secret_files: Mapping[str, str] = field(default_factory=dict)
    memory_mib: int = 1024
    stop_seconds: int = 30
    executor: "Task | None" = None

    @property
    def key(self) -> str:
        """Key by which other parts refer to it in `needs`."""
        return self.name
