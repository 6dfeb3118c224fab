# SPDX-License-Identifier: Apache-2.0
"""Cost of the Connect lineage plugin per record: in isolation (JMH), and in a real worker next to other transforms.

Run by `make bench`, or alone by `bin/lab bench --only connect`. All figures are CPU time, which is independent of the
load of the machine.
"""

from collections.abc import Mapping

from tests.bench import connect_jmh, connect_rounds
from tests.bench.parts import Part, run_parts

PARTS: Mapping[str, Part] = {
    "jmh": Part(connect_jmh.measure, 3),
    "worker": Part(connect_rounds.measure, 12),
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
