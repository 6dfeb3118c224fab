# SPDX-License-Identifier: Apache-2.0
"""Admission of requests: host name, origin, content type, key. Everything else of the API runs behind it.

No response allows another origin to read it (CORS), and none is needed: the page is served by the service.
"""

from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from lineage.access.audit import AuditLog
from lineage.access.hosts import Authority, HostPolicy, parse_authority
from lineage.access.keys import ApiKey, KeyRing
from lineage.access.scopes import Scope, is_public, required_scopes
from lineage.api.errors import ApiError

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_SAME_SITE_VALUES = frozenset({"same-origin", "none"})
_GUARDED = frozenset({b"host", b"origin", b"authorization", b"content-type", b"content-length", b"transfer-encoding"})
_FETCH_METADATA = b"sec-fetch-"

ANONYMOUS = "anonymous"
"""Caller without a key in the audit log."""


@dataclass(frozen=True, slots=True)
class _Head:
    """Method, routed path, and the headers that admission depends on; a repeated header is joined by commas."""

    method: str
    path: str
    headers: dict[str, str]


class RequestGuard:
    """ASGI middleware that admits or refuses requests; it runs within `RawPath`, which sets the routed path."""

    def __init__(self, app: ASGIApp, hosts: HostPolicy, keys: KeyRing, audit: AuditLog) -> None:
        self._app = app
        self._hosts = hosts
        self._keys = keys
        self._audit = audit

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Pass an admitted request on; answer and record a refused one."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head = _head_of(scope)
        key = None
        try:
            self._check_source(head)
            key = self._caller(head)
            scopes = required_scopes(head.method, head.path)
            self._check_scope(key, scopes)
            _check_content_type(head)
        except ApiError as error:
            action = f"{head.method} {head.path}"
            self._audit.refusal(_name(key), _address(scope), action, error.status, error.message)
            await error.response()(scope, receive, send)
            return
        if scopes == {Scope.ADMIN}:
            await self._run_administration(scope, receive, send, head, key)
        else:
            await self._app(scope, receive, send)

    async def _run_administration(
        self, scope: AsgiScope, receive: Receive, send: Send, head: _Head, key: ApiKey | None
    ) -> None:
        status = 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        query = scope.get("query_string", b"").decode("latin-1")
        action = f"{head.method} {head.path}" + (f"?{query}" if query else "")
        try:
            await self._app(scope, receive, send_and_note)
        finally:
            result = "done" if 200 <= status < 300 else "failed"
            self._audit.administration(_name(key), _address(scope), action, status, result)

    def _check_source(self, head: _Head) -> None:
        """Refuse foreign host names and pages of other origins.

        Raises:
            ApiError: 421 for the host name, 403 for the origin.
        """
        authority = parse_authority(head.headers.get("host", ""))
        if authority is None or not self._hosts.accepts_host(authority.host):
            name = authority.host if authority else head.headers.get("host", "")
            message = f"host name {name[:100]!r} is not one of this service; add it with --allowed-host"
            raise ApiError(421, "unknown_host", message, {"host": name[:100]})
        origin = head.headers.get("origin")
        if origin is not None and not self._hosts.accepts_origin(origin, authority):
            raise _foreign(origin)
        if origin is None and not _is_own_fetch(head, authority):
            raise _foreign(f"another site ({head.headers['sec-fetch-site'][:20]})")

    def _caller(self, head: _Head) -> ApiKey | None:
        """Return the key of the request; None without one.

        Raises:
            ApiError: 401 for a key that the service does not know.
        """
        scheme, _, presented = head.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        key = self._keys.find(presented.strip())
        if key is None and (self._keys.required or Scope.ADMIN in required_scopes(head.method, head.path)):
            raise _unauthorized("the key is unknown")
        return key

    def _check_scope(self, key: ApiKey | None, scopes: frozenset[Scope]) -> None:
        """Raise ApiError if the scopes require a key, and `key` has none of them: 401 without a key, else 403."""
        if not scopes or (scopes != {Scope.ADMIN} and not self._keys.required):
            return
        wanted = " or ".join(sorted(scopes))
        if key is None:
            raise _unauthorized(f"this request requires a key with scope {wanted}")
        if key.scopes.isdisjoint(scopes):
            message = f"the key {key.name!r} does not have the scope {wanted}"
            raise ApiError(403, "scope_missing", message, {"scopes": sorted(scopes)})


def _is_own_fetch(head: _Head, authority: Authority) -> bool:
    """Return False for a request that another site's page has caused; links to the page itself are allowed."""
    site = head.headers.get("sec-fetch-site")
    if site is None or site in _SAME_SITE_VALUES:
        return True
    is_link = head.headers.get("sec-fetch-mode") == "navigate" and head.headers.get("sec-fetch-dest") == "document"
    return is_link and head.method == "GET" and is_public(head.path)


def _check_content_type(head: _Head) -> None:
    """Raise ApiError 415 for a write whose body is not declared as JSON: forms and plain text need no CORS check."""
    if head.method in _SAFE_METHODS:
        return
    has_body = head.headers.get("content-length", "0") != "0" or "transfer-encoding" in head.headers
    media = head.headers.get("content-type", "").partition(";")[0].strip().lower()
    if (
        (has_body or media)
        and media != "application/json"
        and not (media.startswith("application/") and media.endswith("+json"))
    ):
        message = f"content type {media[:60]!r} is not accepted; send Content-Type: application/json"
        raise ApiError(415, "unsupported_media_type", message, {"contentType": media[:60]})


def _head_of(scope: AsgiScope) -> _Head:
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        if name in _GUARDED or name.startswith(_FETCH_METADATA):
            text, known = value.decode("latin-1"), headers.get(name.decode("ascii"))
            headers[name.decode("ascii")] = text if known is None else f"{known}, {text}"
    return _Head(scope["method"], scope["path"], headers)


def _foreign(origin: str) -> ApiError:
    message = f"requests of pages of {origin[:100]} are refused; add an origin with --allowed-origin"
    return ApiError(403, "foreign_origin", message, {"origin": origin[:100]})


def _unauthorized(message: str) -> ApiError:
    return ApiError(
        401, "unauthorized", f"{message}; send Authorization: Bearer KEY", headers={"WWW-Authenticate": "Bearer"}
    )


def _name(key: ApiKey | None) -> str:
    return ANONYMOUS if key is None else key.name


def _address(scope: AsgiScope) -> str:
    client = scope.get("client")
    return "" if client is None else str(client[0])
