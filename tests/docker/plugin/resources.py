# SPDX-License-Identifier: Apache-2.0
"""Resource types that the fake plugin supports."""

from tests.docker.plugin.container import Container
from tests.docker.plugin.network import Network
from tests.docker.plugin.remote_image import RemoteImage
from tests.docker.plugin.resource import Resource
from tests.docker.plugin.volume import Volume

RESOURCES: tuple[Resource, ...] = (Network(), Volume(), RemoteImage(), Container())
