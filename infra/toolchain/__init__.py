# SPDX-License-Identifier: Apache-2.0
"""Downloaded and built artefacts: pins with hashes, resolution, cache.

    artifacts = Artifacts.open()
    artifacts.setup({"kafka", "minio"}, PlainProgress(sys.stderr))
    artifacts.component("kafka") / "lib"        # jars
    artifacts.binary("minio")                   # executable
    artifacts.python("spark")                   # interpreter of a virtual environment

`Artifacts` is imported on first use: the bootstrap script imports this package before any dependency is
installed and on every call of the `lab` command, so the import must be fast.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from infra.toolchain.artifacts import Artifacts as Artifacts
    from infra.toolchain.artifacts import SetupReport as SetupReport

__all__ = ["Artifacts", "SetupReport"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from infra.toolchain import artifacts

    return getattr(artifacts, name)
