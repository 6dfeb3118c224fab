# SPDX-License-Identifier: Apache-2.0
"""Public images of the daemon."""

import docker.errors
from docker.models.images import Image

from tests.docker.plugin.properties import Properties
from tests.docker.plugin.resource import Daemon, Made, Refused, Resource


class RemoteImage(Resource):
    """`docker.RemoteImage`; its id is the image's with its name behind it. It is pulled where it is not there yet."""

    token = "docker:index/remoteImage:RemoteImage"
    arguments = "RemoteImageArgs"
    learnt = frozenset({"name", "keepLocally"})
    in_place = frozenset({"build", "forceRemove", "keepLocally"})
    outputs = ("imageId", "repoDigest")

    def create(self, daemon: Daemon, inputs: Properties) -> Made:
        name = inputs["name"]
        try:
            return _made(_found(daemon, name) or daemon.client.images.pull(name), inputs)
        except docker.errors.APIError as error:
            raise Refused(
                f"could not pull image {name}: {error.explanation}. Let the daemon reach its registry, or bring the "
                "image with `docker load`"
            ) from error

    def read(self, daemon: Daemon, known: str, inputs: Properties) -> Made | None:
        found = _found(daemon, inputs["name"])
        return found and _made(found, inputs)

    def update(self, daemon: Daemon, known: str, old: Properties, new: Properties) -> Made:
        """Whether it is kept matters when it goes."""
        return self.create(daemon, new)

    def delete(self, daemon: Daemon, known: str, inputs: Properties) -> None:
        if inputs.get("keepLocally"):
            return
        try:
            daemon.client.images.remove(inputs["name"])
        except docker.errors.ImageNotFound:
            return


def _found(daemon: Daemon, name: str) -> Image | None:
    try:
        return daemon.client.images.get(name)
    except docker.errors.ImageNotFound:
        return None


def _made(image: Image, inputs: Properties) -> Made:
    digests = image.attrs.get("RepoDigests") or [""]  # one that was loaded from a file has none
    return Made(f"{image.id}{inputs['name']}", inputs, {"imageId": image.id, "repoDigest": digests[0]})
