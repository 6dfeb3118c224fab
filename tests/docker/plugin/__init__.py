# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the vendor's Pulumi plugin `docker`, for tests on machines that cannot reach the vendor.

It is no replacement: it speaks the provider protocol for networks, volumes, public images and containers, and only for
those of their properties that the lab's stack uses; it refuses everything else by name. Nothing but the tests puts it
where the engine finds it: `bin/` first on PATH, of which the engine warns at every run.

Like the vendor's plugin, as far as its schema and its sources tell, it takes the schema's defaults, replaces where the
schema says so, compares with what the daemon says rather than with what was asked for (an image by its tag is replaced
each time), leaves a container that could not be started in the state, and changes hardly anything in place.
"""
