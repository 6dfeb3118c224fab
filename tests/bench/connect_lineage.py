# SPDX-License-Identifier: Apache-2.0
"""Cost of the Connect lineage plugin: per record, in isolation (JMH) and in a real worker, and for 200 connectors.

Run by `make bench`, or alone by `bin/lab bench --only connect`. Most figures are CPU time, which is independent of the
load of the machine.
"""

from collections.abc import Mapping

from tests.bench import connect_fleet, connect_jmh, connect_rounds
from tests.bench.parts import Part, run_parts

PARTS: Mapping[str, Part] = {
    "jmh": Part(connect_jmh.measure, 3),
    "worker": Part(connect_rounds.measure, 12),
    "fleet": Part(connect_fleet.measure, 10),
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
