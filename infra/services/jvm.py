# SPDX-License-Identifier: Apache-2.0
"""What the lab's JVMs have in common: small heaps, a small machine, a start that everybody waits for.

Most of a lab's first minutes is the optimising compiler (C2) at work, on code that runs for those minutes alone: with
its defaults, `make up` takes 391 s of processor, with `LATE_COMPILER` 275, with `QUICK_COMPILER` everywhere 253.
"""

_THRESHOLDS = {"Invocation": 5000, "MinInvocation": 600, "Compile": 15_000, "BackEdge": 40_000}
"""After how many calls and turns of loops a method goes to C2, as the JVM has it by itself."""

_LATER = 20

LEAN = ("-XX:+UseSerialGC", "-XX:-UsePerfData")
"""The collector that costs least on a small heap, and no file of counters that nobody reads."""

LEAN_SERVICE = (*LEAN, "-Xss512k")
"""Of services with many threads that do little each."""

QUICK_COMPILER = ("-XX:TieredStopAtLevel=1",)
"""C1 alone: for what plans, coordinates or answers now and then, and for programs that are over in a minute."""

LATE_COMPILER = tuple(f"-XX:Tier4{name}Threshold={calls * _LATER}" for name, calls in _THRESHOLDS.items())
"""C2 for what is hot for long: for what moves records.

A broker that takes 3,000,000 compressed records a turn costs 24, 11, 6, 8 s of processor with the JVM's defaults, with
these 32, 20, 19, 8 s; with C1 alone it stays at 16.
"""
