// SPDX-License-Identifier: Apache-2.0

/** Programs in jars, which run up to their first job: it is described instead of submitted. */
package dev.lineagelab.flink.sql.program;
