# SPDX-License-Identifier: Apache-2.0
"""References of the lab's images in a registry."""


def registry_reference(reference: str, registry: str, tag: str = "") -> str:
    """Return the reference of an image in a registry; without a registry, the image's local name.

    Args:
        reference: local name, `lineage-lab/kafka:KEY`.
        registry: host and path of the registry, `registry.example.org/team`; empty for none.
        tag: tag in the registry; empty: the local one, a hash of the image's contents.
    """
    name, _, key = reference.rpartition(":")
    tagged = f"{name}:{tag or key}"
    return f"{registry.rstrip('/')}/{tagged}" if registry else tagged
