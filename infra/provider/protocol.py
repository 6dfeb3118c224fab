# SPDX-License-Identifier: Apache-2.0
"""The messages of Pulumi's provider protocol, as its SDK generates them, without the rest of the SDK.

Who serves the protocol needs nothing else of the SDK, and to import it takes half a second: it brings the automation
API and telemetry. The engine starts each plugin twice in an update.
"""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What stands in a preview for a value that is not known yet, in every SDK."""

_PACKAGE = "pulumi.runtime.proto"
_BESIDE = "labkit_protocol"
"""The name under which the package is imported without those that it is in."""


def _package() -> str:
    """The package of the messages: the SDK's own where that is imported anyway, else one made of its folder."""
    if _PACKAGE in sys.modules:
        return _PACKAGE
    sdk = find_spec("pulumi")
    if sdk is None or sdk.origin is None:
        raise ModuleNotFoundError("No module named 'pulumi'", name="pulumi")
    folder = Path(sdk.origin).parent / "runtime" / "proto"
    spec = spec_from_file_location(_BESIDE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    assert spec is not None  # of a file with this suffix there always is one
    sys.modules[_BESIDE] = module_from_spec(spec)  # not executed: it would import every message there is
    return _BESIDE


if TYPE_CHECKING:
    from pulumi.runtime.proto import (
        engine_pb2,
        engine_pb2_grpc,
        plugin_pb2,
        provider_pb2,
        provider_pb2_grpc,
        status_pb2,
    )
else:
    _found = _package()
    engine_pb2 = import_module(f"{_found}.engine_pb2")
    engine_pb2_grpc = import_module(f"{_found}.engine_pb2_grpc")
    plugin_pb2 = import_module(f"{_found}.plugin_pb2")
    provider_pb2 = import_module(f"{_found}.provider_pb2")
    provider_pb2_grpc = import_module(f"{_found}.provider_pb2_grpc")
    status_pb2 = import_module(f"{_found}.status_pb2")

__all__ = ["UNKNOWN", "engine_pb2", "engine_pb2_grpc", "plugin_pb2", "provider_pb2", "provider_pb2_grpc", "status_pb2"]
