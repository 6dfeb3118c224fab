# SPDX-License-Identifier: Apache-2.0
"""JVM options of the lab, tuned for small heaps, few cores and a short start.

During the start of a lab, most CPU time is spent by the optimizing JIT compiler (C2) on code that runs for a few
minutes only: `make up` takes 391 s of CPU time with the JVM's defaults, 275 s with `DELAYED_C2`, 253 s with `C1_ONLY`
everywhere.
"""

_DEFAULT_TIER4_THRESHOLDS = {"Invocation": 5000, "MinInvocation": 600, "Compile": 15_000, "BackEdge": 40_000}
"""Default numbers of invocations and loop iterations after which the JVM compiles a method with C2."""

_THRESHOLD_FACTOR = 20
"""Factor by which `DELAYED_C2` raises the thresholds; the measurements there are for this value."""

BASE_OPTIONS = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-Dsun.net.inetaddr.ttl=1")
"""Options of every JVM: the garbage collector with the least overhead on small heaps, and no performance data file.

Addresses of hosts are looked up again after a second. By default the JVM uses one for 30 seconds: a container that is
made again has another address, and its former one may be that of another service by then.
"""

SERVICE_OPTIONS = (*BASE_OPTIONS, "-Xss512k")
"""Options of services, whose many threads need small stacks only."""

C1_ONLY = ("-XX:TieredStopAtLevel=1",)
"""Disable C2: for planners, coordinators, services with few requests, and programs that run for about a minute."""

DELAYED_C2 = tuple(
    f"-XX:Tier4{name}Threshold={count * _THRESHOLD_FACTOR}" for name, count in _DEFAULT_TIER4_THRESHOLDS.items()
)
"""Compile with C2 only code that stays hot: for programs that process records.

CPU time of a broker in four consecutive rounds of 3,000,000 compressed records: 24, 11, 6, 8 s with the JVM's defaults;
32, 20, 19, 8 s with these options; a constant 16 s with `C1_ONLY`.
"""
