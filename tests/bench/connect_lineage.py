# SPDX-License-Identifier: Apache-2.0
"""What the Connect lineage plugin costs a record: alone (JMH), and in a real worker beside other transforms.

Run by `make bench`; alone by `bin/lab bench --only connect`. All of it is processor time, so that it can be told on a
machine that does more than this.
"""

from collections.abc import Mapping

from tests.bench import connect_jmh, connect_rounds
from tests.bench.parts import Part, run

PARTS: Mapping[str, tuple[Part, int]] = {
    "jmh": (connect_jmh.measure, 3),
    "worker": (connect_rounds.measure, 12),
}
"""What is measured, and how many rounds of it unless told otherwise."""

if __name__ == "__main__":
    run(__doc__, PARTS)
