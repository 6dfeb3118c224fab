# SPDX-License-Identifier: Apache-2.0
"""Routing on the percent-encoded path.

Servers decode a path before the router sees it, so that `/namespaces/s3%3A%2F%2Fwarehouse` would look like
three more segments. Here the router matches the encoded path, and handlers decode its parameters.
Unencoded slashes work too, because routes match greedily.
"""

from urllib.parse import quote, unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from lineage.api.errors import ApiError


class RawPath:
    """ASGI middleware that replaces the path of a request by its raw, encoded form."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its raw path."""
        if scope["type"] == "http":
            raw: bytes | None = scope.get("raw_path")
            path = raw.decode("latin-1").partition("?")[0] if raw else quote(scope["path"])
            scope = {**scope, "path": path}
        await self._app(scope, receive, send)


def decode(segment: str) -> str:
    """Decode a path parameter.

    Raises:
        ApiError: 400 where it is not UTF-8.
    """
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError as error:
        message = f"path segment {segment!r} does not decode to UTF-8"
        raise ApiError(400, "invalid_parameter", message, {"field": "path"}) from error
