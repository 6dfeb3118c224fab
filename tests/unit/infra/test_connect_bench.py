# SPDX-License-Identifier: Apache-2.0
"""What the figures of the Connect lineage plugin are worked out with."""

import pytest

from tests.bench.connect_jmh import Iteration, bytes_of_record, iterations, nanos_of_record
from tests.bench.connect_threads import parse, used_between


def dump(**millis):
    """As the JVM prints it: its own threads have neither number nor priority."""
    told = {
        "agent": '"connect-lineage" #29 daemon prio=5 os_prio=0 cpu={}ms elapsed=198.82s tid=0x00 nid=0x5017 runnable',
        "producer": '"producer | connect-lineage-1" #30 prio=5 cpu={}ms elapsed=1.00s tid=0x00 nid=0x5018 runnable',
        "jvm": '"VM Thread" os_prio=0 cpu={}ms elapsed=202.16s tid=0x00 nid=0x4fe3 runnable  ',
    }
    state = "   java.lang.Thread.State: TIMED_WAITING (on object monitor)"
    lines = [line for name, used in millis.items() for line in (told[name].format(used), state, "")]
    return "\n".join(["Full thread dump OpenJDK 64-Bit Server VM (17.0.17 mixed mode):", "", *lines])


def test_threads_are_told_by_name():
    assert parse(dump(agent=1885.5, jvm=7215.25)) == {
        ("connect-lineage", "0x5017"): 1.8855,
        ("VM Thread", "0x4fe3"): 7.21525,
    }


def test_the_plugins_threads_are_told_apart_from_the_jvms():
    before, after = parse(dump(agent=1885, jvm=7215)), parse(dump(agent=1985, producer=50, jvm=9215))
    assert used_between(before, after, ("connect-lineage",)) == pytest.approx(0.15)


def test_a_record_costs_what_the_median_iteration_says():
    found = [Iteration(100, 300, 0), Iteration(100, 500, 0), Iteration(10, 9000, 0)]
    assert nanos_of_record(found) == 5


def test_what_jmh_allocates_itself_is_no_cost_of_a_record():
    nothing = [Iteration(1000, 1, 360), Iteration(900, 1, 360), Iteration(1000, 1, 2_100_000)]
    assert bytes_of_record(nothing, nothing) == 0
    assert bytes_of_record([Iteration(1000, 1, 24_360)] * 3, nothing) == 24


def test_the_counters_of_jmh_are_read_iteration_by_iteration():
    counters = {"records": [[10.0, 20.0]], "cpuNanos": [[30.0, 40.0]], "allocatedBytes": [[5.0, 6.0]]}
    metrics = {name: {"rawData": values} for name, values in counters.items()}
    assert iterations(metrics) == [Iteration(10, 30, 5), Iteration(20, 40, 6)]
