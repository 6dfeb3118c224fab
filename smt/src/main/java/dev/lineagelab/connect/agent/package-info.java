// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin's own thread: looks at the connectors, lets their runs take a step, and sends what is
 * due. No task of Connect ever waits for it.
 */
package dev.lineagelab.connect.agent;
