# SPDX-License-Identifier: Apache-2.0
"""Messages with remedies for failed requests to the API server. Pure functions."""

import json
import socket
from collections.abc import Mapping
from typing import Any

from infra.errors import ServiceError

MAX_MESSAGE_LENGTH = 1000
"""Characters of the server's message; a rejected pod lists every violated rule."""

UNAUTHORIZED = 401
FORBIDDEN = 403
NOT_FOUND = 404

_REMEDIES = {
    UNAUTHORIZED: ". The credentials in the kubeconfig are missing or have expired: log in to the cluster again",
    FORBIDDEN: (
        ". The user of the context lacks this permission: use another context, or let an administrator of the cluster "
        "grant the role `admin` in the lab's namespace"
    ),
    **dict.fromkeys(
        (429, 500, 502, 503, 504), ". The API server is overloaded or starting, or a node is down: repeat the command"
    ),
}
"""Remedies by HTTP status."""


class RequestError(ServiceError):
    """A request that the API server rejected or did not respond to.

    Attributes:
        status: HTTP status; 0 without a response.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


def parse_status(body: bytes) -> Mapping[str, Any]:
    """Return the API's error object (`Status`) in the body of a response; empty for a response of a proxy."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) and found.get("kind") == "Status" else {}


def rejection(server: str, attempt: str, status: int, body: bytes) -> RequestError:
    """Return the error for a response with an error status.

    Args:
        server: the API server, as messages name it.
        attempt: what the request was to do: `list Pods in namespace lab`.
        status: HTTP status.
        body: body of the response.
    """
    message = " ".join(str(parse_status(body).get("message") or body.decode(errors="replace")).split())
    text = f"{server} could not {attempt} (status {status}): {message[:MAX_MESSAGE_LENGTH]}"
    return RequestError(text + _REMEDIES.get(status, ""), status)


def no_response(server: str, attempt: str, cause: BaseException) -> RequestError:
    """Return the error for a request without a response."""
    return RequestError(f"{server} cannot be reached to {attempt}: {_connection_problem(cause)}")


def _connection_problem(cause: BaseException) -> str:
    """Return why there is no response: the type of the error, or its text if a library has wrapped it."""
    text = " ".join(str(cause).split())
    if "certificate verify failed" in text:
        return (
            f"its certificate is not signed by the authority in the kubeconfig ({_last_cause(text)}). The cluster may "
            "have been created again: export its kubeconfig again"
        )
    if isinstance(cause, socket.gaierror) or "NameResolutionError" in text or "Name or service not known" in text:
        return "its host name is unknown. Check the network or VPN, and the server's URL in the kubeconfig"
    if isinstance(cause, ConnectionRefusedError) or "Connection refused" in text:
        return "connection refused. Start the cluster, or export its kubeconfig again if its port has changed"
    if isinstance(cause, TimeoutError) or "timed out" in text:
        return "no response. Check the network or VPN, and whether the cluster runs"
    return _last_cause(text) or type(cause).__name__


def _last_cause(text: str) -> str:
    return text.rpartition("Caused by ")[2][:MAX_MESSAGE_LENGTH]
