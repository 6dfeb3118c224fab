// SPDX-License-Identifier: Apache-2.0
/**
 * Makes OpenLineage events of what is known. Every event is whole: it can be read without others.
 */
package dev.lineagelab.connect.events;
