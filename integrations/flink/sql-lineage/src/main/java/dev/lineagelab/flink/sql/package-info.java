// SPDX-License-Identifier: Apache-2.0

/**
 * Tells the column lineage of a script of Flink SQL, as a JSON document.
 *
 * <pre>
 * version     1
 * statements  [{kind, line, column, text}]       as they stand in the script
 *             kind: SETTING, DEFINITION, WRITE, BEGIN, END, OTHER
 * settings    {key: value}                       what SET says, without secrets
 * jobs        [{statements, sql, writes}]        statements: places in the list above, from 0
 *                                                sql: without secrets, views first
 *   writes    [{sink, overwrite, sources, columns, rows}]       one for each INSERT
 *     sink, sources[]   {path: [catalog, database, name], connector, options, primaryKey,
 *                      location, fields}
 *       fields          [{name, type, kind, metadataKey}]       kind: PHYSICAL, COMPUTED, METADATA
 *     columns           [{name, edges, unknown}]                each column of the sink
 *     rows              {edges, unknown}                        what decides about all of them
 *       edges           [{source, column, path, subtype, masking}]  source: place in sources
 *       unknown         [reason]           where not empty, the edges beside it are not all
 * </pre>
 *
 * <p>{@code connector}, {@code location} and {@code metadataKey} are null where there is none.
 */
package dev.lineagelab.flink.sql;
