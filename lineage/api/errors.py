# SPDX-License-Identifier: Apache-2.0
"""HTTP errors: `{"code", "message", "error": {"code", "message", "details"}}`, one `error.code` per cause.

`code` (the status) and `message` are the body of Marquez's errors, which its clients read. A violated constraint of a
query parameter has `errors` besides, as there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from lineage.events import InvalidEvent, MalformedJson
from lineage.store import NotWriter, QueueFull, StoreError, StoreFull

RETRY_OVERLOADED = "1"
"""Retry-After in seconds for a full queue, which usually drains in one: thousands of events commit per second."""

RETRY_STORE = "5"


class ApiError(Exception):
    """Refused request. `code` is stable, `message` is for people; `violations` are those of query parameters."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        violations: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = dict(details or {})
        self.headers = dict(headers or {})
        self.violations = list(violations)

    def response(self) -> JSONResponse:
        """Return the error as an HTTP response."""
        error = {"code": self.code, "message": self.message, "details": self.details}
        marquez = {"code": self.status, "message": self.message}
        violations = {"errors": self.violations} if self.violations else {}
        return JSONResponse({**marquez, **violations, "error": error}, self.status, self.headers)


def not_found(what: str, name: str) -> ApiError:
    """Return a 404 error for something that no event names."""
    return ApiError(404, "not_found", f"no event names {what} {name!r}", {what: name})


def ingest_error(error: Exception) -> ApiError:
    """Return the HTTP error for an event that was not stored."""
    match error:
        case MalformedJson():
            return ApiError(400, "malformed_json", str(error), {"position": error.position})
        case InvalidEvent():
            return ApiError(422, "invalid_event", str(error), {"field": error.field})
        case QueueFull():
            message = "too many events wait for the disk; send this one again"
            return ApiError(503, "overloaded", message, headers={"Retry-After": RETRY_OVERLOADED})
        case StoreFull():
            return ApiError(507, "storage_full", f"{error}; make room and send the event again")
        case NotWriter():
            return ApiError(503, "not_writer", str(error), headers={"Retry-After": RETRY_OVERLOADED})
        case StoreError():
            return ApiError(503, "storage_failed", str(error), headers={"Retry-After": RETRY_STORE})
        case _:
            raise TypeError(f"{error!r} is not an ingest error") from error


def install_error_handlers(app: FastAPI) -> None:
    """Render every error, including the framework's own, in the same shape."""

    async def api_error(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, ApiError)
        return error.response()

    async def http_error(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "http_error")
        return ApiError(error.status_code, code, error.detail, headers=error.headers).response()

    async def parameter_error(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        field = str(first["loc"][-1])
        message = f"{field}: {first['msg']}"
        violations = filter(None, map(_violation, error.errors()))
        return ApiError(400, "invalid_parameter", message, {"field": field}, violations=[*violations]).response()

    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        # The framework logs the traceback; it is not exposed to the client.
        return ApiError(500, "internal_error", f"unexpected {type(error).__name__}; see the log").response()

    async def store_error(_: Request, error: Exception) -> JSONResponse:
        return ingest_error(error).response()

    app.add_exception_handler(ApiError, api_error)
    app.add_exception_handler(StoreError, store_error)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, parameter_error)
    app.add_exception_handler(Exception, unexpected)


def _violation(error: Mapping[str, Any]) -> str | None:
    """Return a violated constraint of a query parameter in the words of Marquez; None for any other error."""
    place, *path = error["loc"]
    match error["type"]:
        case "missing":
            constraint = "must not be null"
        case "greater_than_equal":
            constraint = f"must be greater than or equal to {error['ctx']['ge']}"
        case _:
            return None
    return f"query param {path[-1]} {constraint}" if place == "query" else None
