# SPDX-License-Identifier: Apache-2.0
"""Fake of the vendor's Pulumi plugin `docker`, for tests on machines without access to the vendor's registry.

It implements the provider protocol for networks, volumes, public images and containers, with the properties that the
lab's stack sets; other properties and resources are rejected by name. Only the tests put it on PATH (`bin/` first), and
the engine prints a warning about that on every run.

It imitates the vendor's plugin of version `IMITATED_VERSION`, as its schema, its sources and a run of a lab with it
showed:

- The daemon's address is part of the provider's inputs, and so of the state. `pulumi refresh` and `pulumi destroy` use
  the one in the state unless they run the program. A changed address updates the provider in place.
- The daemon must respond whenever the provider is configured, in previews too. `disableDockerDaemonCheck` does not
  change that.
- A missing image is pulled, also for a container, before it is reported as missing.
- A refresh reads an image back as it was given, an identifier as the identifier and a name as the name.
- A container that could not be started is kept in the state. A refresh of a stopped container with `mustRun` reads
  `mustRun` as false and its published ports as absent: the next update replaces a container with ports and starts one
  without. A stopped container without `mustRun` is left alone.
- Few inputs of a container are updated in place, and of these few are applied to it.
- The deletion of a container that does not exist fails.
- Each resource is checked when it is registered, after the creation of others.
- The request to cancel does nothing: a running operation continues to its end.

It differs in that it does not wait for 2 s before it reads or removes a network, or removes a volume, and that it
attaches a container to its first network when it creates it.
"""

IMITATED_VERSION = "5.1.1"
"""Version of the vendor's plugin. To raise it, compare the vendor's changes with this package."""
