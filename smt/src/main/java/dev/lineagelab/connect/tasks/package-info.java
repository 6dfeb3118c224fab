// SPDX-License-Identifier: Apache-2.0
/**
 * Observations of the plugin's transform in the tasks of this worker: topics and schemas of
 * records, options, and record counts over task restarts.
 */
package dev.lineagelab.connect.tasks;
