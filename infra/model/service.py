# SPDX-License-Identifier: Apache-2.0
"""Services and tasks: the programs of a lab, described without the place in which they run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Java:
    """A main class on the class path of one component.

    Attributes:
        component: the component (`infra.toolchain`) whose jars make the class path.
        main: fully qualified name of the main class.
        heap_mib: the largest heap, in MiB.
        options: further JVM options, system properties among them.
        jar: path of a jar of the user's own, which is the class path in the component's place; empty for none.
        class_path: where in the component's folder the jars are; more places than one are parted by `:`.
        runtime: the release of Java that runs it.
        components: further ones, whose folders it looks into by itself.
    """

    component: str
    main: str
    heap_mib: int
    args: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    jar: str = ""
    class_path: str = "lib/*"
    runtime: Literal[17, 21] = 17
    components: tuple[str, ...] = ()


@dataclass(frozen=True)
class Python:
    """A module run with `python -m`, in one of the kit's virtual environments.

    `uses` names packages of the project beside the module's own, `reads` files of it that are no Python: a service
    restarts when any of them changes. `components` are those that it reads, or starts, by itself; with `java` it
    starts Java programs on the jars of these, as all that is PySpark does.
    """

    module: str
    args: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    environment: Literal["kit", "spark"] = "kit"
    components: tuple[str, ...] = ()
    java: bool = False


@dataclass(frozen=True)
class Binary:
    """A native program that the kit brings along.

    Attributes:
        name: of the program.
        component: the component that it is one of several programs of; empty where it stands alone.
        unprivileged: it refuses to be root; a target whose user is root starts it as somebody else.
    """

    name: str
    args: tuple[str, ...] = ()
    component: str = ""
    unprivileged: bool = False


Program = Java | Python | Binary
"""What the kit brings along."""


@dataclass(frozen=True)
class PublicImage:
    """An image that its project publishes, run as it is; only where the place runs images (`Site.runs_images`).

    Attributes:
        reference: its name and tag.
        program: path of what it starts, which is told here as no registry is asked for it. It is started in the
            folder that the image names.
        remedy: how a lab does without it, in a few words; for where it is not to be had.
    """

    reference: str
    program: str
    args: tuple[str, ...] = ()
    remedy: str = ""


Run = Program | PublicImage


def components_of(run: Run) -> tuple[str, ...]:
    """The components that something which is run needs beside it; its own comes first."""
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
    """A step that runs to its end before a service starts.

    Attributes:
        run: what is run.
        unless: path of a file or folder; where it is there already, the step is left out. Empty: at every start.
        staged: what the step makes, where it cannot make `unless` whole or not at all: removed before the step,
            renamed to `unless` after it, so that a step that was killed is begun anew.
        stdin: text for its standard input, in which `$NAME` stands for one of the service's variables: so a
            secret reaches it without being an argument.
    """

    run: Program
    unless: str = ""
    staged: str = ""
    stdin: str = ""


@dataclass(frozen=True)
class Endpoint:
    """A port that a service listens on.

    Attributes:
        name: unique within the service.
        port: the conventional port; a target may move it.
        scheme: `http` where a person or a client uses a URL, empty where it is `host:port`.
        published_as: the name under which the stack's outputs show it; empty for what stays inside.
        private: only the service itself connects to it: it is bound to loopback, wherever the service runs.
        advertised: it tells clients where to go on, so that each has to come by a listener of its own
            (`Site.listeners`) where those inside and outside know it by different addresses.
    """

    name: str
    port: int
    scheme: str = ""
    published_as: str = ""
    private: bool = False
    advertised: bool = False


@dataclass(frozen=True)
class Probe:
    """How to tell that a service is ready: its endpoint accepts connections, or answers `path` with 2xx.

    Attributes:
        endpoint: name of one of the service's endpoints.
        path: an HTTP path, or empty for a TCP connection.
        seconds: how long it may take on a slow machine.
    """

    endpoint: str
    path: str = ""
    seconds: int = 120


@dataclass(frozen=True)
class Service:
    """Something that runs on.

    Attributes:
        name: unique in the lab; also its key.
        run: what is run.
        endpoints: what it listens on.
        ready: how to tell that it is up; None where the process itself is all there is to see.
        needs: keys of the parts that must be there first.
        prepare: steps that run to their end before `run`.
        files: configuration files by name, as text. Never holds a secret.
        volumes: names of folders that outlive a restart.
        env: environment variables.
        secrets: environment variables whose value is a credential, by the credential's name.
        memory_mib: what it takes when it is busy; for the preflight and for limits.
        restart: when it is started anew: `always`, or where it ended in failure, as what may be done some day.
        stop_seconds: how long it may take to stop before it is killed.
        stop_signal: what asks it to stop.
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
    memory_mib: int = 256
    restart: Literal["always", "on_failure"] = "always"
    stop_seconds: int = 30
    stop_signal: Literal["TERM", "INT"] = "TERM"

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return self.name


@dataclass(frozen=True)
class Task:
    """Something that runs to its end when it is asked to (`lab run NAME`). Fields as in `Service`."""

    name: str
    run: Run
    needs: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    memory_mib: int = 1024
    stop_seconds: int = 30

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return self.name
