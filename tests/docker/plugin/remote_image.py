# SPDX-License-Identifier: Apache-2.0
"""Fake of the vendor's resource of public images."""

import docker.errors
from docker.models.images import Image

from tests.docker.plugin.image_lookup import find_image, find_or_pull_image
from tests.docker.plugin.resource import Daemon, DockerRequestError, Resource, ResourceState
from tests.vendor_plugin.properties import Properties


class RemoteImage(Resource):
    """`docker.RemoteImage`, pulled if missing; its id is the image's id followed by the name."""

    token = "docker:index/remoteImage:RemoteImage"
    arguments = "RemoteImageArgs"
    supported = frozenset({"name", "keepLocally"})
    in_place = frozenset({"build", "forceRemove", "keepLocally"})
    outputs = ("imageId", "repoDigest")

    def create(self, daemon: Daemon, inputs: Properties) -> ResourceState:
        try:
            return _state(find_or_pull_image(daemon, inputs["name"]), inputs)
        except DockerRequestError as error:
            raise DockerRequestError(f"Unable to read Docker image into resource: {error}") from error

    def read(self, daemon: Daemon, resource_id: str, inputs: Properties) -> ResourceState | None:
        found = find_image(daemon, inputs["name"])
        return found and _state(found, inputs)

    def update(self, daemon: Daemon, resource_id: str, old: Properties, new: Properties) -> ResourceState:
        """Pull the image if missing; `keepLocally` takes effect on delete."""
        return self.create(daemon, new)

    def delete(self, daemon: Daemon, resource_id: str, inputs: Properties) -> None:
        if inputs.get("keepLocally"):
            return
        try:
            daemon.client.images.remove(inputs["name"])
        except docker.errors.ImageNotFound:
            return


def _state(image: Image, inputs: Properties) -> ResourceState:
    digests = image.attrs.get("RepoDigests") or [""]  # an image loaded from a file has none
    return ResourceState(f"{image.id}{inputs['name']}", inputs, {"imageId": image.id, "repoDigest": digests[0]})
