# SPDX-License-Identifier: Apache-2.0
"""Base class of the kinds that check existing services, and errors about these services."""

from abc import abstractmethod
from typing import Any, TypeVar

from infra.errors import LabError
from infra.model.external import ExternalService
from infra.provider.kind import Kind, OperationContext, ReadResult

E = TypeVar("E", bound=ExternalService)


REFUSED = "refused"
"""Fingerprint of credentials that the service rejects."""


class LoginRefused(LabError):
    """The service rejects the credentials: the lab's own service is another lab's, an existing one has other ones."""


class ExternalKind(Kind[E]):
    """An existing service, checked whenever it is declared or refreshed. The lab never creates or deletes it."""

    @abstractmethod
    def check(self, inputs: E, call: OperationContext) -> None:
        """Raise LabError if the lab cannot use the service; the message names setting and remedy."""

    def create(self, inputs: E, call: OperationContext) -> dict[str, Any]:
        self.check(inputs, call)
        return {}

    def read(self, inputs: E, call: OperationContext) -> ReadResult[E] | None:
        try:
            self.check(inputs, call)
        except LoginRefused:
            # Drift, which the update repairs: it uses the credentials that the user gives for it.
            return ReadResult(inputs.model_copy(update={"fingerprint": REFUSED}))
        return ReadResult(inputs)

    def update(self, old: E, new: E, call: OperationContext) -> dict[str, Any]:
        self.check(new, call)
        return {}

    def delete(self, inputs: E, call: OperationContext) -> None:
        """Do nothing: the service is not the lab's."""


def external_error(
    setting: str, action: str, cause: str, remedy: str = "", error: type[LabError] = LabError
) -> LabError:
    """Return the error about an existing service.

    Args:
        setting: configuration key with its address.
        action: what was attempted, on what: `create topic orders at broker:9092`.
        cause: why it failed.
        remedy: what to do, unless it is to start the service or to correct its address.
        error: type of the error.
    """
    remedy = remedy or f"start the service, or correct lineage-lab:{setting}"
    return error(f"could not {action}, an existing service (lineage-lab:{setting}): {cause}. To continue: {remedy}")
