# SPDX-License-Identifier: Apache-2.0
"""Errors of the set-up; each fits one screen."""

from infra.errors import LabError


class ArtifactError(LabError):
    """Something could not be set up.

    `attempt` is the failed action and its object, `cause` the reason, `remedy` the next step; `detail` is the end of
    a tool's output, if any.
    """

    def __init__(self, attempt: str, cause: str, remedy: str, detail: str = "") -> None:
        super().__init__(attempt, cause, remedy, detail)
        self.attempt = attempt
        self.cause = cause
        self.remedy = remedy
        self.detail = detail

    def __str__(self) -> str:
        parts = [f"{self.attempt}: {self.cause}"]
        if self.detail:
            parts.append("\n".join(f"  | {line}" for line in self.detail.splitlines()))
        parts.append(f"Remedy: {self.remedy}")
        return "\n".join(parts)


class Cancelled(Exception):
    """The work was cancelled: a parallel step failed or the user interrupted the set-up."""
