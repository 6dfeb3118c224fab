# SPDX-License-Identifier: Apache-2.0
"""Resource kinds of the Docker target."""

MODULES = {
    "ContainerReady": f"{__name__}.container_ready",
    "CredentialsVolume": f"{__name__}.credentials_volume",
    "DockerHost": f"{__name__}.docker_host",
}
"""Module of each kind by the kind's name."""
