# SPDX-License-Identifier: Apache-2.0
"""The event writer of this package. Imported by the launcher, so it imports no PySpark."""

from lineagelab_common.events import EventWriter

WRITER = EventWriter("urn:lineage-lab:jobs:spark")
