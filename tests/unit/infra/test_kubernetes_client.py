# SPDX-License-Identifier: Apache-2.0
"""Connection to an API server: contexts, errors with remedies, retries. The servers are HTTP servers of the test."""

import json
from http.server import BaseHTTPRequestHandler

import pytest
import yaml
from urllib3 import Retry

from infra.targets.kubernetes.client import Cluster, connect, parse_version, selector
from infra.targets.kubernetes.kubeconfig import ClusterError, load_configuration
from infra.targets.kubernetes.objects import ENDPOINT_SLICES, NAMESPACES, PODS
from infra.targets.kubernetes.request_errors import RequestError
from tests.unit.infra.http_server import next_response, serving

VERSION = {"major": "1", "minor": "34", "gitVersion": "v1.34.4"}
REFUSED = "http://127.0.0.1:9"


class ApiHandler(BaseHTTPRequestHandler):
    """Sends scripted responses: status and JSON or text; `None` closes the connection."""

    protocol_version = "HTTP/1.1"

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.received.append((self.command, self.path, dict(self.headers), body))
        response = next_response(self.server)
        if response is None:
            self.close_connection = True
            return
        status, content = response
        data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = respond

    def log_message(self, *arguments):
        pass


def status(code, message):
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message}


@pytest.fixture
def api():
    with serving(ApiHandler) as server:
        server.responses = [(200, VERSION)]
        yield server


@pytest.fixture
def write_kubeconfig(tmp_path, monkeypatch):
    """Writes a kubeconfig with contexts, name -> server, and selects it."""

    def write(text="", name="config", **servers):
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": f"{name}-cluster", "cluster": {"server": url}} for name, url in servers.items()],
            "users": [{"name": "user", "user": {"token": "secret-token"}}],
            "contexts": [{"name": name, "context": {"cluster": f"{name}-cluster", "user": "user"}} for name in servers],
        }
        path = tmp_path / name
        path.write_text(text or yaml.safe_dump(config))
        monkeypatch.setenv("KUBECONFIG", str(path))
        return path

    return write


@pytest.fixture
def cluster(api, write_kubeconfig):
    write_kubeconfig(lab=f"http://127.0.0.1:{api.server_port}")
    created = Cluster("lab", load_configuration("lab"), Retry(2, backoff_factor=0))
    yield created
    created.close()


def test_connect_sends_the_credentials_of_the_context(api, write_kubeconfig):
    write_kubeconfig(lab=f"http://127.0.0.1:{api.server_port}/prefix/", other=REFUSED)
    connected = connect("lab")
    assert str(connected) == (f"the Kubernetes API server at http://127.0.0.1:{api.server_port}/prefix (context lab)")
    assert [path for _, path, _, _ in api.received] == ["/prefix/version", "/prefix/api/v1"]
    assert {headers["Authorization"] for _, _, headers, _ in api.received} == {"Bearer secret-token"}
    connected.close()


def test_missing_kubeconfig_is_reported_with_the_remedy(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(ClusterError, match=r"there is no kubeconfig at .*none\. Create it with .*set KUBECONFIG"):
        connect("lab")


@pytest.mark.parametrize("text", ["contexts: [", "- a list", "clusters: [{name: one}]\ncontexts: []"])
def test_damaged_kubeconfig_is_reported(write_kubeconfig, text):
    write_kubeconfig(text)
    with pytest.raises(ClusterError, match=r"the kubeconfig .* cannot be read"):
        connect("lab")


def test_kubeconfig_without_contexts_is_reported(write_kubeconfig):
    write_kubeconfig()
    with pytest.raises(ClusterError, match="has no context"):
        connect("lab")


@pytest.mark.parametrize(("context", "problem"), [("typo", "has no context 'typo'"), ("", "no context is set")])
def test_unknown_context_is_reported_with_the_existing_ones(write_kubeconfig, context, problem):
    write_kubeconfig(production="https://production.example:6443", kind="https://127.0.0.1:6443")
    with pytest.raises(ClusterError, match=problem) as raised:
        connect(context)
    lines = str(raised.value).splitlines()
    assert "Set lineage-lab:kubernetesContext to one of the contexts:" in lines[0]
    assert lines[1:] == ["  kind  https://127.0.0.1:6443", "  production  https://production.example:6443"]


def test_contexts_of_several_kubeconfigs_are_merged(api, write_kubeconfig, monkeypatch):
    first = write_kubeconfig(name="first", lab=f"http://127.0.0.1:{api.server_port}")
    second = write_kubeconfig(name="second", other=REFUSED)
    monkeypatch.setenv("KUBECONFIG", f"{first}:{second}")
    connect("lab").close()
    with pytest.raises(ClusterError, match="connection refused"):
        connect("other")


def test_missing_program_of_the_credentials_is_reported(write_kubeconfig):
    path = write_kubeconfig(lab=REFUSED)
    config = yaml.safe_load(path.read_text())
    config["users"][0]["user"] = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "/no/such/login",
            "interactiveMode": "Never",
        }
    }
    path.write_text(yaml.safe_dump(config))
    with pytest.raises(ClusterError, match=r"(?s)credentials of context lab .*/no/such/login"):
        connect("lab")


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        (REFUSED, "connection refused. Start the cluster"),
        ("http://lab.invalid:6443", "its host name is unknown. Check the network or VPN"),
    ],
)
def test_unreachable_server_is_reported_with_the_remedy(write_kubeconfig, server, problem):
    write_kubeconfig(lab=server)
    with pytest.raises(ClusterError) as raised:
        connect("lab")
    assert f"the Kubernetes API server at {server} (context lab) cannot be reached to read its version" in str(
        raised.value
    )
    assert problem in str(raised.value)


def test_server_that_is_too_old_is_rejected(api, write_kubeconfig):
    api.responses = [(200, {"major": "1", "minor": "27+", "gitVersion": "v1.27.16-eks"})]
    write_kubeconfig(lab=f"http://127.0.0.1:{api.server_port}")
    with pytest.raises(ClusterError, match=r"too old: it runs Kubernetes v1\.27\.16-eks, 1\.28 is required"):
        connect("lab")


def test_minor_versions_of_managed_clusters_have_a_suffix():
    assert parse_version({"major": "1", "minor": "28+"}) == (1, 28)


def test_rejected_credentials_are_reported(api, write_kubeconfig):
    api.responses = [(200, VERSION), status(401, "Unauthorized")]
    write_kubeconfig(lab=f"http://127.0.0.1:{api.server_port}")
    with pytest.raises(ClusterError, match=r"\(status 401\): Unauthorized\. .* log in to the cluster again"):
        connect("lab")


def test_missing_permission_is_reported_with_the_message_of_the_server(cluster, api):
    message = 'pods is forbidden: User "jane" cannot list resource "pods"'
    api.responses = [status(403, message)]
    with pytest.raises(RequestError) as raised:
        cluster.list(PODS, "lab")
    assert f"could not list Pods in namespace lab (status 403): {message}. " in str(raised.value)
    assert "the role `admin`" in str(raised.value)
    assert raised.value.status == 403


def test_missing_object_is_none_and_a_proxys_404_is_an_error(cluster, api):
    api.responses = [status(404, 'namespaces "lab" not found')]
    assert cluster.find(NAMESPACES, "", "lab") is None
    assert not cluster.delete(NAMESPACES, "", "lab")
    api.responses = [(404, "<html>no such host</html>")]
    for operation in (cluster.find, cluster.delete):
        with pytest.raises(RequestError, match="no such host"):
            operation(NAMESPACES, "", "lab")


def test_lost_connection_is_retried(cluster, api):
    api.responses = [None, (200, {"items": []})]
    assert cluster.list(PODS, "lab") == []
    api.responses = [None]
    with pytest.raises(RequestError, match="cannot be reached to list Pods in namespace lab"):
        cluster.list(PODS, "lab")


def test_objects_are_selected_by_labels_and_fields(cluster, api):
    api.responses = [(200, {"items": []})]
    cluster.list(PODS, "lab", {"stack": "kubernetes", "part": ""}, "spec.nodeName=one")
    [(_, path, _, _)] = api.received
    assert path == (
        "/api/v1/namespaces/lab/pods?labelSelector=part%2Cstack%3Dkubernetes&fieldSelector=spec.nodeName%3Done"
    )


def test_changes_are_merged(cluster, api):
    api.responses = [(200, {})]
    cluster.patch(PODS, "lab", "kafka-0", {"metadata": {"labels": {"a": "b"}}})
    [(method, _, headers, body)] = api.received
    assert (method, headers["Content-Type"]) == ("PATCH", "application/merge-patch+json")
    assert json.loads(body) == {"metadata": {"labels": {"a": "b"}}}


def test_lines_of_a_stream(cluster, api):
    api.responses = [(200, "one\ntwo\nthree")]
    assert list(cluster.lines("/log", "read the log", {})) == ["one", "two", "three"]
    api.responses = [status(400, "container is waiting to start")]
    with pytest.raises(RequestError, match="container is waiting to start"):
        list(cluster.lines("/log", "read the log", {}))


def test_paths_and_descriptions_of_objects():
    assert PODS.path("lab", "kafka-0", "log") == "/api/v1/namespaces/lab/pods/kafka-0/log"
    assert NAMESPACES.path(name="lab") == "/api/v1/namespaces/lab"
    assert ENDPOINT_SLICES.path("lab") == "/apis/discovery.k8s.io/v1/namespaces/lab/endpointslices"
    assert PODS.described("lab", "kafka-0", "log") == "log of Pod kafka-0 in namespace lab"
    assert NAMESPACES.described() == "Namespaces"


def test_selector_without_value_means_any_value():
    assert selector({"b": "", "a": "1"}) == "a=1,b"
