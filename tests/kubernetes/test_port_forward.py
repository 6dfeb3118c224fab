# SPDX-License-Identifier: Apache-2.0
"""The kind PortForward and its process, on a real cluster."""

import os
import signal
import socket
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from infra.errors import LabError, PreflightError
from infra.provider.kind import OperationContext
from infra.targets.kubernetes import background
from infra.targets.kubernetes.forwarder import HALF_CLOSED_SECONDS
from infra.targets.kubernetes.kind_inputs import Forward, PortForwardInputs
from infra.targets.kubernetes.kinds.port_forward import PortForwardKind
from infra.targets.kubernetes.port_forward import ForwardFiles
from tests.kubernetes.cluster import addresses
from tests.kubernetes.lab_workloads import service, workload
from tests.kubernetes.relay import free_port
from tests.runtime_contract import await_truthy

STACK = "forward"
ECHO_PORT, HTTP_PORT = 9001, 8080
LARGE = 20_000_000

ECHO = f"exec nc -ll -p {ECHO_PORT} -e cat"
SERVE = f"head -c {LARGE} /dev/zero > /tmp/large; hostname > /tmp/name; exec httpd -f -p {HTTP_PORT} -h /tmp"


def probe(port):
    return {"readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 1}}


@pytest.fixture(scope="module")
def services(kubectl):
    """Namespace with an echo server `echo`, and HTTP servers `web-0` and `web-1` that serve their names."""
    name = "lineage-lab-test-forward"
    kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    inside = type(kubectl)(name)
    inside.apply(
        service(STACK, "echo", ECHO_PORT),
        workload(STACK, "echo", ECHO, container=probe(ECHO_PORT), terminationGracePeriodSeconds=0),
        service(STACK, "web", HTTP_PORT),
        workload(
            STACK,
            "web",
            SERVE,
            kind="StatefulSet",
            replicas=2,
            container=probe(HTTP_PORT),
            terminationGracePeriodSeconds=0,
        ),
    )
    inside.run("rollout", "status", "deployment/echo", "--timeout=60s")
    inside.run("rollout", "status", "statefulset/web", "--timeout=60s")
    yield inside
    kubectl.run("delete", "namespace", name, "--wait=false")


@pytest.fixture
def forward(services, tmp_path):
    """Starts the process with forwards (service, replica, remote port), and returns its inputs."""
    started = []

    def create(*wanted, context=addresses.CONTEXT):
        forwards = [
            Forward(local=free_port(), service=name, replica=replica, remote=remote) for name, replica, remote in wanted
        ]
        inputs = PortForwardInputs(
            context=context, namespace=services.namespace, root=str(tmp_path / "root"), forwards=forwards
        )
        started.append(inputs)
        PortForwardKind().create(inputs, OperationContext())
        for entry in forwards:
            await_truthy(lambda port=entry.local: accepts(port))
        return inputs

    yield create
    for inputs in started:
        PortForwardKind().delete(inputs, OperationContext())


@pytest.fixture
def echo(forward):
    """Forwarded port of the echo server, and the process."""
    inputs = forward(("echo", None, ECHO_PORT))
    return inputs.forwards[0].local, process_of(inputs)


def files_of(inputs):
    return ForwardFiles(Path(inputs.root))


def process_of(inputs):
    return psutil.Process(background.process_id(files_of(inputs).lock))


def accepts(port):
    with suppress(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
        return True
    return False


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=30) as response:
        return response.read()


def receive(connection, size):
    data = bytearray()
    while len(data) < size and (more := connection.recv(1 << 16)):
        data += more
    return bytes(data)


def test_service_is_reached_until_the_resource_is_deleted(forward):
    inputs = forward(("web", None, HTTP_PORT))
    port = inputs.forwards[0].local
    names = {get(port, "name").decode().strip() for _ in range(6)}
    assert names == {"web-0", "web-1"}
    assert PortForwardKind().read(inputs, OperationContext()).inputs == inputs
    PortForwardKind().delete(inputs, OperationContext())
    assert not accepts(port)
    assert PortForwardKind().read(inputs, OperationContext()) is None
    PortForwardKind().delete(inputs, OperationContext())  # no effect


def test_replica_has_a_port_of_its_own(forward):
    inputs = forward(("web", 0, HTTP_PORT), ("web", 1, HTTP_PORT))
    assert [get(entry.local, "name").decode().strip() for entry in inputs.forwards] == ["web-0", "web-1"]


def test_data_arrives_unchanged_in_both_directions_at_the_same_time(echo):
    port, _ = echo
    data = os.urandom(LARGE)
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        sending = threading.Thread(target=connection.sendall, args=(data,))
        sending.start()
        assert receive(connection, len(data)) == data
        sending.join()


def test_response_arrives_after_the_client_has_closed_its_side(forward):
    port = forward(("web", 0, HTTP_PORT)).forwards[0].local
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"GET /large HTTP/1.0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        assert receive(connection, 2 * LARGE).endswith(b"\r\n\r\n" + bytes(LARGE))


def test_many_connections_at_once_are_independent_and_leave_nothing_open(echo):
    port, process = echo
    before = process.num_fds()
    with ExitStack() as stack:

        def open_connection(_):
            return stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))

        def talk(connection):
            message = os.urandom(1000)
            connection.sendall(message)
            return receive(connection, len(message)) == message

        with ThreadPoolExecutor(8) as pool:  # the server accepts only a few new connections at a time
            connections = list(pool.map(open_connection, range(200)))
            assert all(pool.map(talk, connections))
            assert all(pool.map(talk, connections))
        assert process.num_fds() >= before + 400
    await_truthy(lambda: process.num_fds() <= before + 2)
    assert process.num_threads() < 20


def test_connection_that_the_client_has_closed_ends_in_the_pod_too(echo, services):
    port, process = echo
    await_truthy(lambda: echo_servers(services) == 0)
    before = process.num_fds()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(b"hello")
        assert receive(connection, 5) == b"hello"
        assert echo_servers(services) == 1
    assert HALF_CLOSED_SECONDS < 30
    await_truthy(lambda: echo_servers(services) == 0)
    await_truthy(lambda: process.num_fds() == before)


def echo_servers(services):
    """Return the number of open connections in the pod, each of which has a process."""
    lines = services.run("exec", "deployment/echo", "--", "ps", "-o", "args").splitlines()
    return sum(line.strip() == "cat" for line in lines)


def test_port_refuses_connections_while_no_pod_is_ready(echo, services):
    port, _ = echo
    services.run("scale", "deployment/echo", "--replicas=0")
    await_truthy(lambda: not accepts(port))
    services.run("scale", "deployment/echo", "--replicas=1")
    await_truthy(lambda: accepts(port))


def test_connection_uses_the_replacement_of_a_deleted_pod(forward, services):
    port = forward(("web", 1, HTTP_PORT)).forwards[0].local
    assert get(port, "name") == b"web-1\n"
    services.run("delete", "pod", "web-1", "--grace-period=0", "--force")
    await_truthy(lambda: response_or_none(port) == b"web-1\n")


def response_or_none(port):
    with suppress(OSError, urllib.error.URLError):
        return get(port, "name")
    return None


def test_connection_to_a_port_without_a_server_is_reset_and_logged(forward):
    inputs = forward(("echo", None, 9))
    address = ("127.0.0.1", inputs.forwards[0].local)
    with socket.create_connection(address, timeout=30) as connection, pytest.raises(ConnectionResetError):
        connection.recv(1)
    await_truthy(lambda: "connection refused" in files_of(inputs).log.read_text())
    assert process_of(inputs).is_running()


def test_process_that_was_killed_is_missing_and_started_again(forward):
    inputs = forward(("web", None, HTTP_PORT))
    process = process_of(inputs)
    process.send_signal(signal.SIGKILL)
    process.wait(10)
    assert PortForwardKind().read(inputs, OperationContext()) is None
    PortForwardKind().create(inputs, OperationContext())
    await_truthy(lambda: accepts(inputs.forwards[0].local))


def test_changed_forwards_are_drift_and_replace_the_process(forward):
    inputs = forward(("web", 0, HTTP_PORT))
    changed = inputs.model_copy(
        update={"forwards": [inputs.forwards[0].model_copy(update={"replica": 1, "local": free_port()})]}
    )
    assert PortForwardKind().read(changed, OperationContext()) is None
    PortForwardKind().update(inputs, changed, OperationContext())
    await_truthy(lambda: accepts(changed.forwards[0].local))
    assert get(changed.forwards[0].local, "name") == b"web-1\n"
    assert not accepts(inputs.forwards[0].local)


def test_port_in_use_is_reported_with_its_holder(services, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        entry = Forward(local=port, service="echo", remote=ECHO_PORT)
        inputs = PortForwardInputs(
            context=addresses.CONTEXT, namespace=services.namespace, root=str(tmp_path), forwards=[entry]
        )
        with pytest.raises(PreflightError, match=rf"port {port} \(echo:{ECHO_PORT}\) is held by "):
            PortForwardKind().create(inputs, OperationContext())


def test_port_that_another_process_takes_is_opened_after_it(echo, services):
    port, process = echo
    services.run("scale", "deployment/echo", "--replicas=0")
    await_truthy(lambda: not accepts(port))
    with socket.create_server(("127.0.0.1", port)):
        services.run("scale", "deployment/echo", "--replicas=1")
        services.run("rollout", "status", "deployment/echo", "--timeout=60s")
    await_truthy(lambda: accepts(port))
    assert any(entry.status == "LISTEN" and entry.laddr.port == port for entry in process.net_connections())


def test_error_of_a_process_that_cannot_start_has_the_cause(services, tmp_path):
    inputs = PortForwardInputs(context="nowhere", namespace=services.namespace, root=str(tmp_path), forwards=[])
    with pytest.raises(LabError, match=r"did not start: .* no context 'nowhere'"):
        PortForwardKind().create(inputs, OperationContext())
    assert background.process_id(files_of(inputs).lock) is None


def test_forwarding_continues_after_an_outage_of_the_api_server(relay, forward, services):
    inputs = forward(("web", 0, HTTP_PORT), context="relayed")
    port = inputs.forwards[0].local
    assert get(port, "name") == b"web-0\n"
    relay.stop()
    with pytest.raises((OSError, urllib.error.URLError)):
        get(port, "name")
    assert "connection refused" in files_of(inputs).log.read_text()
    relay.start()
    await_truthy(lambda: response_or_none(port) == b"web-0\n")
    services.run("delete", "pod", "web-0", "--grace-period=0", "--force")  # the watch continues too
    await_truthy(lambda: response_or_none(port) == b"web-0\n")
