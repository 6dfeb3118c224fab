# SPDX-License-Identifier: Apache-2.0
"""Base class of the kinds whose resources hold data, in a service of the lab or in an existing one.

In an existing service, a resource that exists before the lab is adopted: the lab uses it unchanged, and leaves it with
its data at the end. A resource that the lab has created there is deleted with the lab.
"""

from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

from infra.errors import LabError
from infra.model.resources import DataResource
from infra.provider.connections import NO_RESPONSE
from infra.provider.external_service import external_error
from infra.provider.kind import Kind, OperationContext, ReadResult, ServiceUnreachable

ADOPTED = "adopted"
"""Output of a resource in an existing service: true if it existed before the lab."""

D = TypeVar("D", bound=DataResource)


class DataKind(Kind[D]):
    """A kind whose resources may be in an existing service.

    Attributes:
        setting: configuration key with the address of that service.
    """

    setting: ClassVar[str]

    @abstractmethod
    def describe(self, inputs: D) -> str:
        """Return the resource and its service for messages: `topic orders at 127.0.0.1:9092`."""

    @abstractmethod
    def remove(self, inputs: D, call: OperationContext) -> None:
        """Delete the resource with its data; does nothing if it does not exist."""

    def delete(self, inputs: D, call: OperationContext) -> None:
        if is_adopted(inputs, call):
            call.note(f"{self.describe(inputs)} existed before the lab and is left, with its data")
            return
        self.remove(inputs, call)
        if inputs.external:
            call.note(f"{self.describe(inputs)} was created by the lab and is deleted")

    def exists_already(self, inputs: D, call: OperationContext) -> bool:
        """Return whether an existing service has the resource, which the lab may not have the right to create."""
        return inputs.external is True and self.read(inputs, call) is not None

    def created(self, inputs: D, existed: bool, call: OperationContext) -> dict[str, Any]:
        """Return the outputs of a new resource; note that it `existed`, if that matters at the end."""
        if not inputs.external:
            return {}
        if existed:
            call.note(f"{self.describe(inputs)} exists already: the lab uses it, and leaves it at the end")
        return {ADOPTED: existed}

    def unreadable(
        self, inputs: D, call: OperationContext, cause: str = NO_RESPONSE, remedy: str = ""
    ) -> ReadResult[D]:
        """Return the result of `read` while the service cannot be used.

        In an existing service, a resource of the state counts as unchanged: the check of the service reports the cause.

        Raises:
            ServiceUnreachable: it is a service of the lab.
            LabError: the state does not have the resource of an existing service yet.
        """
        if not inputs.external or ADOPTED not in call.outputs:
            raise self.unreachable(inputs, "read", cause, remedy)
        return ReadResult(inputs, same_outputs(inputs, call))

    def refused(self, inputs: D, call: OperationContext, cause: str, remedy: str = "") -> ReadResult[D] | None:
        """Return the result of `read` if the service rejects the credentials: None where it is not the lab's."""
        return self.unreadable(inputs, call, cause, remedy) if inputs.external else None

    def unreachable(self, inputs: D, verb: str, cause: str = NO_RESPONSE, remedy: str = "") -> LabError:
        """Return the error about a service that cannot be used: `ServiceUnreachable` for one of the lab."""
        action = f"{verb} {self.describe(inputs)}"
        if inputs.external:
            return external_error(self.setting, action, cause, remedy)
        return ServiceUnreachable(f"could not {action}: {cause}")


def is_adopted(inputs: DataResource, call: OperationContext) -> bool:
    """Return whether a resource existed before the lab; True if that is not recorded."""
    return inputs.external is True and bool(call.outputs.get(ADOPTED, True))


def same_outputs(inputs: DataResource, call: OperationContext) -> dict[str, Any]:
    """Return the outputs of a resource whose adoption does not change."""
    return {ADOPTED: is_adopted(inputs, call)} if inputs.external else {}
