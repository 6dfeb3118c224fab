// SPDX-License-Identifier: Apache-2.0
/**
 * Background thread of the plugin: polls the connectors, advances their runs and sends the events
 * that are due. Connect's task threads never wait for it.
 */
package dev.lineagelab.connect.agent;
