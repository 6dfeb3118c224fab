# SPDX-License-Identifier: Apache-2.0
"""Paths, user and host names in the lab's containers, equal on Docker and on Kubernetes."""

PROGRAMS = "/opt/lineage-lab"
"""Folder of the programs in the lab's images, read-only."""

PROJECT_FOLDER = f"{PROGRAMS}/project"
JARS = f"{PROGRAMS}/jars"

PROBE = f"{PROGRAMS}/bin/probe"
"""Probe command of the lab's images; arguments: host, port and an optional HTTP path."""

_WRITABLE = "/var/lib/lineage-lab"
FILES = f"{_WRITABLE}/files"
VOLUMES = f"{_WRITABLE}/volumes"
SCRATCH = "/tmp"
"""Folder for temporary files; some programs write to `/tmp` whatever `TMPDIR` is."""

CREDENTIALS_FOLDER = "/run/lineage-lab"
CREDENTIALS_NAME = "credentials.env"

USER = 10001
"""Uid and gid of all processes in containers."""


def host_name(part: str) -> str:
    """Return the host name of a part on the stack's network; Java rejects URIs with `_` in the host name."""
    return part.replace("_", "-")
