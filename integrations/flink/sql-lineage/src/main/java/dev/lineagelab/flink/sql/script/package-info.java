// SPDX-License-Identifier: Apache-2.0

/** Reads scripts with Flink's own parser: what they define is defined, what they write is told. */
package dev.lineagelab.flink.sql.script;
