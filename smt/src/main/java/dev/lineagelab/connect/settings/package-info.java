// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin's options.
 *
 * <p>They are read, in this order, from the transform's own configuration, from the worker's
 * properties with the prefix {@code openlineage.}, from system properties of the same name, and
 * from environment variables such as {@code OPENLINEAGE_TRANSPORT_URL}. The first that has an
 * option decides.
 */
package dev.lineagelab.connect.settings;
