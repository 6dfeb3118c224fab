// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Clock;

/** Dependencies that all partitions of a task share. */
record ArchiveContext(
    ObjectStore store,
    ObjectKeys keys,
    WriteAheadLog log,
    RotationPolicy rotation,
    ErrantRecordHandler errantRecords,
    Clock clock) {}
