# SPDX-License-Identifier: Apache-2.0
"""Fake of the vendor's Pulumi plugin `docker`, for tests on machines without access to the vendor's registry.

It implements the provider protocol for networks, volumes, public images and containers, with the properties that the
lab's stack sets; other properties and resources are rejected by name. Only the tests put it on PATH (`bin/` first), and
the engine prints a warning about that on every run.

It follows the vendor's schema and sources: it applies the schema's defaults, replaces resources where the schema says
so, compares with the daemon's state rather than with the old inputs (a container with an image tag is replaced on every
update), keeps a container that could not be started in the state, and updates few properties in place.
"""
