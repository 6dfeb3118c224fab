# SPDX-License-Identifier: Apache-2.0
"""Requests to the API server of a kubeconfig context.

Objects are the API's JSON, as `kubectl get -o json` shows them: the client library's classes for them would not serve
the lab's pure functions any better, and a recorded object is a test case.
"""

import functools
import json
import logging
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import urllib3
from kubernetes.client import Configuration
from kubernetes.client.rest import RESTClientObject
from urllib3 import BaseHTTPResponse, HTTPResponse, Retry, Timeout
from urllib3.exceptions import HTTPError, ReadTimeoutError

from infra.targets.kubernetes.kubeconfig import SETTING, ClusterError, load_configuration
from infra.targets.kubernetes.objects import ObjectType
from infra.targets.kubernetes.request_errors import NOT_FOUND, RequestError, no_response, parse_status, rejection
from infra.targets.runtime import split_lines

MINIMUM_VERSION = (1, 28)
"""Oldest supported release: label `apps.kubernetes.io/pod-index` of StatefulSets."""

CONNECT_SECONDS = 10
REQUEST_SECONDS = 60
"""Timeouts of a request."""

STREAM_SECONDS = 300
"""Timeout of a stream without data; the caller opens it again."""

MAX_CONNECTIONS = 64
"""Connections that are kept for reuse: Pulumi waits for all workloads of a lab in parallel."""

RETRIES = Retry(total=5, connect=5, read=2, status=3, other=0, backoff_factor=0.3, raise_on_status=False)
"""Retries bridge a restart of the API server: 0.3 to 5 s between attempts, 9 s in all."""

MERGE_PATCH = "application/merge-patch+json"

KubernetesObject = dict[str, Any]
"""An object as the API returns it."""


class Cluster:
    """API server of a context. Methods raise RequestError. Safe to share between threads.

    Attributes:
        context: name of the context.
        configuration: address and credentials.
        retries: repetition of requests without a response.
    """

    def __init__(self, context: str, configuration: Configuration, retries: Retry = RETRIES) -> None:
        self.context = context
        self.configuration = configuration
        self.retries = retries
        configuration.connection_pool_maxsize = MAX_CONNECTIONS
        logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)  # it logs each retry
        if not configuration.verify_ssl:  # the user's choice in the kubeconfig; a warning with each request otherwise
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._http = RESTClientObject(configuration).pool_manager
        self._credentials = threading.Lock()

    @property
    def server(self) -> str:
        """URL of the API server."""
        return str(self.configuration.host)

    def __str__(self) -> str:
        return f"the Kubernetes API server at {self.server} (context {self.context})"

    def list(
        self, kind: ObjectType, namespace: str = "", labels: Mapping[str, str] | None = None, fields: str = ""
    ) -> list[KubernetesObject]:
        """Return the objects of a type with all these labels that match a field selector."""
        query = {"labelSelector": selector(labels or {}), "fieldSelector": fields}
        found = self._json("GET", kind.path(namespace), f"list {kind.described(namespace)}", query)
        return list(found["items"])

    def find(self, kind: ObjectType, namespace: str, name: str) -> KubernetesObject | None:
        """Return an object; None if the API server reports that it does not exist."""
        try:
            return self.get(kind, namespace, name)
        except RequestError as error:
            if error.status == NOT_FOUND:
                return None
            raise

    def get(self, kind: ObjectType, namespace: str, name: str, subresource: str = "") -> KubernetesObject:
        """Return an object."""
        attempt = f"read {kind.described(namespace, name, subresource)}"
        return self._json("GET", kind.path(namespace, name, subresource), attempt)

    def create(self, kind: ObjectType, namespace: str, body: KubernetesObject) -> KubernetesObject:
        """Create an object and return it."""
        attempt = f"create {kind.described(namespace, body['metadata'].get('name', ''))}"
        return self._json("POST", kind.path(namespace), attempt, body=body)

    def replace(self, kind: ObjectType, namespace: str, body: KubernetesObject) -> KubernetesObject:
        """Replace an object."""
        name = body["metadata"]["name"]
        return self._json("PUT", kind.path(namespace, name), f"write {kind.described(namespace, name)}", body=body)

    def patch(
        self, kind: ObjectType, namespace: str, name: str, body: KubernetesObject, subresource: str = ""
    ) -> KubernetesObject:
        """Merge properties into an object."""
        attempt = f"change {kind.described(namespace, name, subresource)}"
        return self._json("PATCH", kind.path(namespace, name, subresource), attempt, body=body)

    def delete(self, kind: ObjectType, namespace: str, name: str, grace_seconds: int | None = None) -> bool:
        """Delete an object and then what it owns; return whether it existed."""
        options: KubernetesObject = {"propagationPolicy": "Background"}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        attempt = f"delete {kind.described(namespace, name)}"
        try:
            self._json("DELETE", kind.path(namespace, name), attempt, body=options)
        except RequestError as error:
            if error.status != NOT_FOUND:
                raise
            return False
        return True

    def text(self, path: str, attempt: str, query: Mapping[str, Any] | None = None) -> str:
        """Return the text at a path."""
        return self._request("GET", path, attempt, query).data.decode(errors="replace")

    def json(self, path: str, attempt: str, query: Mapping[str, Any] | None = None) -> KubernetesObject:
        """Return the JSON at a path."""
        return self._json("GET", path, attempt, query)

    def lines(self, path: str, attempt: str, query: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of a stream until its end, or until it had no data for `STREAM_SECONDS`."""
        response = self._request("GET", path, attempt, query, stream=True)
        try:
            yield from split_lines(response.stream())
        except ReadTimeoutError:
            return
        except (HTTPError, OSError) as error:
            raise no_response(str(self), attempt, error) from error
        finally:
            response.close()

    def authorization(self) -> dict[str, str]:
        """Return the request header with the current token; empty if a client certificate authenticates the user."""
        with self._credentials:  # reading a token may start a program
            token = self.configuration.get_api_key_with_prefix("authorization")
        return {"Authorization": token} if token else {}

    def _json(
        self,
        method: str,
        path: str,
        attempt: str,
        query: Mapping[str, Any] | None = None,
        body: KubernetesObject | None = None,
    ) -> KubernetesObject:
        response = self._request(method, path, attempt, query, body)
        found: KubernetesObject = json.loads(response.data)
        return found

    def _request(
        self,
        method: str,
        path: str,
        attempt: str,
        query: Mapping[str, Any] | None = None,
        body: KubernetesObject | None = None,
        stream: bool = False,
    ) -> BaseHTTPResponse:
        """Send a request and return the response, whose status is below 400."""
        headers = {"Content-Type": MERGE_PATCH if method == "PATCH" else "application/json", **self.authorization()}
        try:
            response: HTTPResponse = self._http.request(
                method,
                _url(self.server + path, query),
                body=None if body is None else json.dumps(body),
                headers=headers,
                timeout=Timeout(connect=CONNECT_SECONDS, read=STREAM_SECONDS if stream else REQUEST_SECONDS),
                retries=self.retries,
                preload_content=not stream,
            )
        except (HTTPError, OSError) as error:
            raise no_response(str(self), attempt, error) from error
        if response.status >= 400:
            raise self._rejection(attempt, response)
        return response

    def _rejection(self, attempt: str, response: HTTPResponse) -> RequestError:
        """Return the error of a response; a 404 that is not the API server's does not mean that an object is gone."""
        body = response.data
        response.release_conn()
        status = response.status
        if status == NOT_FOUND and not parse_status(body):
            status = 0
        return rejection(str(self), attempt, status, body)

    def close(self) -> None:
        """Close the connections."""
        self._http.clear()


def _url(url: str, query: Mapping[str, Any] | None) -> str:
    known = {name: value for name, value in (query or {}).items() if value not in ("", None)}
    return f"{url}?{urlencode(known, doseq=True)}" if known else url


def selector(labels: Mapping[str, str]) -> str:
    """Return a label selector."""
    return ",".join(f"{name}={value}" if value else name for name, value in sorted(labels.items()))


def connect(context: str) -> Cluster:
    """Return a client of a context's cluster.

    Raises:
        ClusterError: there is no such context, or its API server is not reachable, rejects the user, or is too old.
    """
    cluster = Cluster(context, load_configuration(context), Retry(0))
    try:
        version = cluster.json("/version", "read its version")
        cluster.json("/api/v1", "list the types of objects")  # /version needs no valid credentials
    except RequestError as error:
        cluster.close()
        raise ClusterError(f"{error}. {SETTING} selects the context") from error
    if parse_version(version) < MINIMUM_VERSION:
        cluster.close()
        required = ".".join(map(str, MINIMUM_VERSION))
        raise ClusterError(
            f"{cluster} is too old: it runs Kubernetes {version['gitVersion']}, {required} is required. Upgrade the "
            f"cluster, or set {SETTING} to the context of another one"
        )
    cluster.retries = RETRIES
    return cluster


def parse_version(version: Mapping[str, str]) -> tuple[int, int]:
    """Return the release from the response of `/version`; managed clusters have minor versions like `28+`."""
    return int(version["major"]), int(re.sub(r"\D.*", "", version["minor"]))


_connecting = threading.Lock()


@functools.cache
def _connected(context: str) -> Cluster:
    return connect(context)


def shared_cluster(context: str) -> Cluster:
    """Return the client that all threads of this process share; it reuses connections."""
    with _connecting:
        return _connected(context)
