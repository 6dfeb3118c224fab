# SPDX-License-Identifier: Apache-2.0
"""The lab's own images: which one a part runs on, and `lab images`."""

from infra.targets.docker.images.facade import ImageListing as ImageListing
from infra.targets.docker.images.facade import Images as Images
