# SPDX-License-Identifier: Apache-2.0
"""Requests of the administrator to the API server."""

import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.kubernetes.cluster import addresses
from tests.kubernetes.cluster.credentials import administrator_token
from tests.kubernetes.cluster.errors import ClusterError
from tests.kubernetes.cluster.folders import ClusterFolders

_TIMEOUT = 30
_FIELD_MANAGER = "lineage-lab-cluster"


@dataclass(frozen=True)
class ApiServer:
    """Client of the cluster's API server; without dependencies, so that `.ci/cluster` requires only Python."""

    folders: ClusterFolders

    def get(self, path: str) -> dict[str, Any] | None:
        """Return an object or a list; None if it does not exist. Raises ClusterError."""
        return self._request("GET", path)

    def apply(self, path: str, manifest: dict[str, Any]) -> None:
        """Create or update the object at `path` by a server-side apply. Raises ClusterError."""
        self._request("PATCH", f"{path}?fieldManager={_FIELD_MANAGER}&force=true", manifest)

    def delete(self, path: str) -> None:
        """Delete an object, if it exists. Raises ClusterError."""
        self._request("DELETE", path)

    def unready_reason(self) -> str | None:
        """Return None if the API server is ready, else why not."""
        try:
            self._open("GET", "/readyz", None)
        except (OSError, ClusterError) as error:
            return str(error)
        return None

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any] | None:
        try:
            return json.loads(self._open(method, path, body))
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            message = error.read().decode(errors="replace").strip()
            raise ClusterError(f"{method} {path} failed with status {error.code}: {message}") from error
        except OSError as error:
            raise ClusterError(f"{method} {path} failed: the API server does not respond: {error}") from error

    def _open(self, method: str, path: str, body: dict[str, Any] | None) -> bytes:
        headers = {"Authorization": f"Bearer {administrator_token(self.folders)}"}
        if body is not None:
            headers["Content-Type"] = "application/apply-patch+yaml"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(addresses.API_URL + path, data, headers, method=method)
        with self._opener.open(request, timeout=_TIMEOUT) as response:
            return response.read()

    @cached_property
    def _opener(self) -> urllib.request.OpenerDirector:
        """Opener that ignores the proxies of the environment."""
        context = ssl.create_default_context(cafile=self.folders.credentials / "ca.crt")
        return urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
