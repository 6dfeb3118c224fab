// SPDX-License-Identifier: Apache-2.0
/**
 * Archives Kafka topics in an S3 bucket, each record exactly once.
 *
 * <p>The records of a topic partition are archived in chunks: ranges of offsets, one after the
 * other, without gaps between them. A chunk becomes one object for each time partition (and, with
 * Avro, each schema) that its records belong to. Before any of them is written, an entry of the
 * partition's log says where the chunk ends and which offsets go into which object:
 *
 * <pre>
 *   topics/orders/_log/0/9223372036854774807-from-1000.json            the log entry
 *   topics/orders/year=2026/month=11/day=21/hour=03/orders+0+0000001000-0000001998.avro
 *   topics/orders/year=2026/month=11/day=21/hour=04/orders+0+0000001999-0000001999.avro
 * </pre>
 *
 * <p>Exactly once follows from four rules, and from a store that honours {@code If-None-Match: *}:
 *
 * <ol>
 *   <li>The name of an entry is made from the offset after the chunk before, and an entry is never
 *       overwritten. So of all tasks that ever archive a partition, crashed ones, their successors
 *       and those that do not know yet that they were replaced, one decides about each chunk, and
 *       the others find its decision and follow it.
 *   <li>Objects are written only as an entry says, and never overwritten either.
 *   <li>An entry is written only when all objects of the one before are there. So only those of the
 *       newest entry can be missing; a task that takes over reads their offsets again.
 *   <li>Where to go on is read from the log alone. Offsets are committed to Kafka after the objects
 *       are there, for whoever watches the lag.
 * </ol>
 *
 * <p>The number in an entry's name counts down, so that the newest entry comes first in a listing:
 * to find it takes one request, however long the log is. Only the newest entry of a partition is
 * ever read.
 */
package dev.lineagelab.archive;
