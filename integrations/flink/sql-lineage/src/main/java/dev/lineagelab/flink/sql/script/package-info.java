// SPDX-License-Identifier: Apache-2.0

/** Analysis of scripts with Flink's parser: definitions are executed, writes are analysed. */
package dev.lineagelab.flink.sql.script;
