# SPDX-License-Identifier: Apache-2.0
"""Errors that are reported to the user, without a traceback."""


class LabError(Exception):
    """Error that the user can fix; the message states what failed, on what, and the remedy."""


class SettingsError(LabError):
    """Invalid stack configuration."""


class PreflightError(LabError):
    """Insufficient resources on this machine for the configured lab."""


class ServiceError(LabError):
    """Service or task that did not start, or that failed."""


class Interrupted(LabError):
    """Operation cancelled by the user."""
