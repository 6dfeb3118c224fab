# SPDX-License-Identifier: Apache-2.0
"""Progress of a start that reads a long log."""

import pytest

from lineage.store.reading_progress import ReadingProgress


@pytest.mark.parametrize(
    ("position", "now", "line"),
    [
        (1_000, 9.9, None),
        (1_000, 10, "reading 20,000 events of the log to make the graph again"),
        (3_000, 10, "read 2,000 of 20,000 events of the log to make the graph again, about 90 s left"),
        (3_000, 20, "read 2,000 of 20,000 events of the log to make the graph again, about 3 min left"),
        (3_000, 1_000, "read 2,000 of 20,000 events of the log to make the graph again, about 2.5 h left"),
        (21_500, 100, "read 20,500 of 20,000 events of the log to make the graph again, about 0 s left"),
    ],
)
def test_progress_is_reported(position, now, line):
    assert ReadingProgress(1_000, 21_000, 0).report(position, now) == line


def test_progress_is_reported_every_ten_seconds():
    progress = ReadingProgress(0, 1_000, 0)
    reported = [second for second in range(31) if progress.report(30 * second + 30, second)]
    assert reported == [10, 20, 30]
