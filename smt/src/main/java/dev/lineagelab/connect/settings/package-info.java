// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin's options.
 *
 * <p>Sources in order of precedence: the transform's configuration, worker properties with the
 * prefix {@code openlineage.}, system properties of the same name, environment variables such as
 * {@code OPENLINEAGE_TRANSPORT_URL}.
 */
package dev.lineagelab.connect.settings;
