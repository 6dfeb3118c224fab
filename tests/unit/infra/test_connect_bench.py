# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the figures of the Connect lineage plugin."""

import pytest

from tests.bench.connect_jmh import Iteration, bytes_per_record, iterations, nanos_per_record
from tests.bench.connect_threads import cpu_seconds_between, parse_thread_dump


def dump(**millis):
    """Thread dump in the JVM's format; the JVM's own threads have neither number nor priority."""
    lines_by_thread = {
        "agent": '"connect-lineage" #29 daemon prio=5 os_prio=0 cpu={}ms elapsed=198.82s tid=0x00 nid=0x5017 runnable',
        "producer": '"producer | connect-lineage-1" #30 prio=5 cpu={}ms elapsed=1.00s tid=0x00 nid=0x5018 runnable',
        "jvm": '"VM Thread" os_prio=0 cpu={}ms elapsed=202.16s tid=0x00 nid=0x4fe3 runnable  ',
    }
    state = "   java.lang.Thread.State: TIMED_WAITING (on object monitor)"
    lines = [line for name, used in millis.items() for line in (lines_by_thread[name].format(used), state, "")]
    return "\n".join(["Full thread dump OpenJDK 64-Bit Server VM (17.0.17 mixed mode):", "", *lines])


def test_thread_dump_is_parsed_by_name_and_id():
    assert parse_thread_dump(dump(agent=1885.5, jvm=7215.25)) == {
        ("connect-lineage", "0x5017"): 1.8855,
        ("VM Thread", "0x4fe3"): 7.21525,
    }


def test_cpu_seconds_count_threads_with_matching_names_only():
    before, after = (
        parse_thread_dump(dump(agent=1885, jvm=7215)),
        parse_thread_dump(dump(agent=1985, producer=50, jvm=9215)),
    )
    assert cpu_seconds_between(before, after, ("connect-lineage",)) == pytest.approx(0.15)


def test_the_cost_of_a_record_is_that_of_the_median_iteration():
    found = [Iteration(100, 300, 0), Iteration(100, 500, 0), Iteration(10, 9000, 0)]
    assert nanos_per_record(found) == 5


def test_allocations_of_jmh_are_subtracted():
    nothing = [Iteration(1000, 1, 360), Iteration(900, 1, 360), Iteration(1000, 1, 2_100_000)]
    assert bytes_per_record(nothing, nothing) == 0
    assert bytes_per_record([Iteration(1000, 1, 24_360)] * 3, nothing) == 24


def test_jmh_counters_are_grouped_by_iteration():
    counters = {"records": [[10.0, 20.0]], "cpuNanos": [[30.0, 40.0]], "allocatedBytes": [[5.0, 6.0]]}
    metrics = {name: {"rawData": values} for name, values in counters.items()}
    assert iterations(metrics) == [Iteration(10, 30, 5), Iteration(20, 40, 6)]
