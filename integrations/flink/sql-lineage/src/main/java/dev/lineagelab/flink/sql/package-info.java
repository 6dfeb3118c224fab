// SPDX-License-Identifier: Apache-2.0

/**
 * Command that derives the column lineage of a Flink SQL script and prints it as JSON.
 *
 * <pre>
 * version     1
 * statements  [{kind, line, column, text}]       in the order of the script
 *             kind: SETTING, DEFINITION, WRITE, BEGIN, END, OTHER
 * settings    {key: value}                       values of SET, without secrets
 * jobs        [{statements, sql, writes}]        statements: indexes into statements, from 0
 *                                                sql: secrets redacted, preceded by views
 *   writes    [{sink, overwrite, sources, columns, rows}]       one for each INSERT
 *     sink, sources[]   {path: [catalog, database, name], connector, options, primaryKey,
 *                      location, fields}
 *       fields          [{name, type, kind, metadataKey}]       kind: PHYSICAL, COMPUTED, METADATA
 *     columns           [{name, edges, unknown}]                each column of the sink
 *     rows              {edges, unknown}                        indirect dependencies of all columns
 *       edges           [{source, column, path, subtype, masking}]  source: index into sources
 *       unknown         [reason]           if not empty, edges is incomplete
 * </pre>
 *
 * <p>{@code connector}, {@code location} and {@code metadataKey} are null if not applicable.
 */
package dev.lineagelab.flink.sql;
