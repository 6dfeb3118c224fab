# SPDX-License-Identifier: Apache-2.0
"""References of the lab's images in a registry and on the nodes of a cluster."""

PUBLIC_REGISTRY = "docker.io"
"""Registry of references that name none."""


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


def registry_host(reference: str) -> str:
    """Return the registry of a reference: `registry.example.org:5000`, `docker.io` if it names none."""
    first, separator, _ = reference.partition("/")
    return first if separator and (first == "localhost" or "." in first or ":" in first) else PUBLIC_REGISTRY


def full_reference(reference: str) -> str:
    """Return a reference as containerd spells it: `docker.io/lineage-lab/kafka:KEY`, `docker.io/library/debian:12`."""
    if registry_host(reference) != PUBLIC_REGISTRY or reference.startswith(f"{PUBLIC_REGISTRY}/"):
        return reference
    return f"{PUBLIC_REGISTRY}/{reference if '/' in reference else f'library/{reference}'}"
