# SPDX-License-Identifier: Apache-2.0
"""The one family of errors that a user of the lab is meant to read."""


class LabError(Exception):
    """Something the user can mend. The text says what was attempted, on what, and what to do next."""


class SettingsError(LabError):
    """The stack's configuration makes no sense."""


class PreflightError(LabError):
    """The machine cannot carry the lab as it is configured."""


class ServiceError(LabError):
    """A service or a task did not start, or ended with an error."""


class Interrupted(LabError):
    """The user stopped what was going on."""
