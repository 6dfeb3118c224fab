# SPDX-License-Identifier: Apache-2.0
"""Container images that the lab builds: selection for each part, build, list and removal."""

from infra.targets.docker.images.facade import ImageListing as ImageListing
from infra.targets.docker.images.facade import Images as Images
from infra.targets.docker.images.references import registry_reference as registry_reference
