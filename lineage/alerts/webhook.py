# SPDX-License-Identifier: Apache-2.0
"""Webhooks: their settings, and the requests that notify them of alerts. Pure, but for reading the file.

JSON requests follow the Standard Webhooks specification (headers `webhook-id`, `webhook-timestamp` and
`webhook-signature`), so that its libraries verify them. Slack's have no signature: the URL is the secret.
"""

import base64
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lineage.alerts.alert import AlertKind
from lineage.events.ids import JsonObject
from lineage.events.timestamps import format_time

WEBHOOKS_VARIABLE = "LINEAGE_WEBHOOKS"
"""Environment variable with the content of a file of webhooks, for a service without such a file."""

JSON, SLACK = "json", "slack"
RAISED, RESOLVED = "alert.raised", "alert.resolved"

_SECRET_PREFIX = "whsec_"
_MIN_SECRET_BYTES = 16
_MAX_LINES = 20
"""Alerts that one message to Slack lists."""


class WebhooksError(ValueError):
    """A file of webhooks cannot be used; the message names file, webhook and cause, never a URL or a secret."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """Receiver of alerts.

    Attributes:
        name: unique, for logs and responses of the API.
        url: secret, because Slack's is a credential.
        shape: `json` or `slack`.
        key: signs the requests; empty for Slack.
        kinds: of the alerts that it receives.
    """

    name: str
    url: str = field(repr=False)
    shape: str
    key: bytes = field(repr=False)
    kinds: frozenset[AlertKind]

    @property
    def host(self) -> str:
        """Host of the URL."""
        return urlsplit(self.url).hostname or ""


@dataclass(frozen=True, slots=True)
class Change:
    """Alert that was raised or resolved; `alert` as `Alert.to_json` returns it."""

    type: str
    alert: JsonObject


def read_webhooks(path: Path) -> tuple[Webhook, ...]:
    """Read the webhooks of a file, see `parse_webhooks`.

    Raises:
        WebhooksError: the file cannot be read, or a webhook is invalid.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WebhooksError(f"cannot read the webhooks in {path}: {error}") from error
    return parse_webhooks(text, str(path))


def parse_webhooks(text: str, source: str) -> tuple[Webhook, ...]:
    """Parse `[{"name", "url", "shape": "json" | "slack", "secret", "kinds"?: [...]}]`.

    A secret is text of 16 bytes or more, or `whsec_` and its base64; Slack needs none. Without `kinds` all are sent.

    `source` names the text in errors.

    Raises:
        WebhooksError: the text is no JSON, or a webhook is invalid.
    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise WebhooksError(f"cannot read the webhooks in {source}: {error}") from error
    if not isinstance(content, list):
        raise WebhooksError(f"the webhooks in {source} are not a list")
    found: dict[str, Webhook] = {}
    for number, row in enumerate(content, 1):
        try:
            webhook = _webhook(row)
            if webhook.name in found:
                raise ValueError(f"name {webhook.name!r} is used twice")
        except ValueError as error:
            raise WebhooksError(f"webhook {number} in {source}: {error}") from error
        found[webhook.name] = webhook
    return tuple(found.values())


def messages(webhook: Webhook, changes: Sequence[Change], now: int) -> list[bytes]:
    """Return the bodies that notify a webhook of changes at `now` (ns): one each, to Slack one for all."""
    wanted = [change for change in changes if change.alert["kind"] in webhook.kinds]
    if not wanted:
        return []
    if webhook.shape == SLACK:
        return [_slack_body(wanted)]
    return [
        json.dumps({"type": change.type, "timestamp": format_time(now), "data": change.alert}).encode()
        for change in wanted
    ]


def headers(webhook: Webhook, message_id: str, body: bytes, now: float) -> dict[str, str]:
    """Return the headers of a request at `now`, seconds since 1970; the signature covers id, time and body."""
    found = {"Content-Type": "application/json", "User-Agent": "lineage-lab"}
    if webhook.key:
        signed = b"%b.%d.%b" % (message_id.encode(), int(now), body)
        signature = base64.b64encode(hmac.new(webhook.key, signed, sha256).digest()).decode()
        found |= {
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now)),
            "webhook-signature": f"v1,{signature}",
        }
    return found


def _webhook(row: object) -> Webhook:
    if not isinstance(row, dict):
        raise ValueError("is not an object")
    if unknown := row.keys() - {"name", "url", "shape", "secret", "kinds"}:
        raise ValueError(f"unknown key {sorted(unknown)[0]!r}")
    name, url, shape = (_text(row, key) for key in ("name", "url", "shape"))
    if shape not in (JSON, SLACK):
        raise ValueError(f"shape {shape!r} is neither {JSON!r} nor {SLACK!r}")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("url is not an http or https URL")
    return Webhook(name, url, shape, _key(row, shape), _kinds(row.get("kinds")))


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{key!r} is missing or no text")
    return value


def _key(row: Mapping[str, Any], shape: str) -> bytes:
    if shape == SLACK:
        if "secret" in row:
            raise ValueError("'secret' has no use for Slack, whose requests are not signed")
        return b""
    secret = _text(row, "secret")
    if secret.startswith(_SECRET_PREFIX):
        try:
            key = base64.b64decode(secret.removeprefix(_SECRET_PREFIX), validate=True)
        except ValueError as error:
            raise ValueError("'secret' is not base64") from error
    else:
        key = secret.encode()
    if len(key) < _MIN_SECRET_BYTES:
        raise ValueError(f"'secret' is shorter than {_MIN_SECRET_BYTES} bytes")
    return key


def _kinds(value: object) -> frozenset[AlertKind]:
    if value is None:
        return frozenset(AlertKind)
    if not isinstance(value, list) or not value or not all(each in list(AlertKind) for each in value):
        raise ValueError(f"'kinds' is not a list of {', '.join(AlertKind)}")
    return frozenset(map(AlertKind, value))


def _slack_body(changes: Sequence[Change]) -> bytes:
    lines = [f"{_SLACK_WORDS[change.type]}: {_escaped(change.alert['text'])}" for change in changes[:_MAX_LINES]]
    if len(changes) > _MAX_LINES:
        lines.append(f"and {len(changes) - _MAX_LINES} more")
    return json.dumps({"text": "\n".join(lines)}).encode()


_SLACK_WORDS = {RAISED: "Alert", RESOLVED: "Resolved"}


def _escaped(text: str) -> str:
    """Escape what Slack interprets: a name must not mention a channel, nor be a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def changes_between(before: Iterable[JsonObject], after: Iterable[JsonObject]) -> list[Change]:
    """Return what was raised and resolved between two sets of alerts, as `Alert.to_json` returns them, raised first."""
    known, current = ({alert["id"]: alert for alert in alerts} for alerts in (before, after))
    raised = [Change(RAISED, alert) for name, alert in current.items() if name not in known]
    return raised + [Change(RESOLVED, alert) for name, alert in known.items() if name not in current]
