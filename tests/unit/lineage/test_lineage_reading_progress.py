# SPDX-License-Identifier: Apache-2.0
"""Progress of a start that reads a long log."""

import logging

import pytest
from lineage_events import RULES, original

from lineage.api import create_app
from lineage.rules.event_reader import EventReader
from lineage.settings import Settings
from lineage.store import EventLog, reading_progress
from lineage.store.horizons import Horizon, Horizons
from lineage.store.reading_progress import ReadingProgress


@pytest.mark.parametrize(
    ("position", "now", "line"),
    [
        (1_000, 9.9, None),
        (1_000, 10, "reading 20,000 events of the log before the service answers"),
        (3_000, 10, "read 2,000 of 20,000 events of the log before the service answers, about 90 s left"),
        (3_000, 20, "read 2,000 of 20,000 events of the log before the service answers, about 3 min left"),
        (3_000, 1_000, "read 2,000 of 20,000 events of the log before the service answers, about 2.5 h left"),
        (21_500, 100, "read 20,500 of 20,000 events of the log before the service answers, about 0 s left"),
    ],
)
def test_progress_is_reported(position, now, line):
    assert ReadingProgress(1_000, 21_000, 0).report(position, now) == line


def test_progress_is_reported_every_ten_seconds():
    progress = ReadingProgress(0, 1_000, 0)
    reported = [second for second in range(31) if progress.report(30 * second + 30, second)]
    assert reported == [10, 20, 30]


@pytest.mark.parametrize("compacted", [0, 60])
def test_a_start_that_reads_the_log_reports_its_progress(tmp_path, caplog, monkeypatch, compacted):
    monkeypatch.setattr(reading_progress, "REPORT_SECONDS", 0)
    log = EventLog(tmp_path)
    log.append([original("COMPLETE", 0, run=number) for number in range(1, compacted + 1)])
    while log.compact(EventReader(RULES), Horizons(Horizon(2**62))):
        pass
    assert (log.count(), log.compacted_through()) == (0, compacted)
    log.append([original("COMPLETE", 1, run=number) for number in range(1, 102)])
    settings = Settings(host="127.0.0.1", port=0, data=tmp_path, rules=None)
    with caplog.at_level(logging.INFO, "lineage.api.app"):
        create_app(settings, RULES, log)
    log.close()
    found = [record.message.partition(" events")[0] for record in caplog.records]
    assert found == ["read 50 of 101", "read 100 of 101"]
