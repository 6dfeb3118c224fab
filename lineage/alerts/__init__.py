# SPDX-License-Identifier: Apache-2.0
"""Alerts about what is wrong now, and their delivery to webhooks."""

from lineage.alerts.alert import Alert, AlertKind
from lineage.alerts.current import CurrentAlerts
from lineage.alerts.webhook import Webhook, WebhooksError, read_webhooks

__all__ = ["Alert", "AlertKind", "CurrentAlerts", "Webhook", "WebhooksError", "read_webhooks"]
