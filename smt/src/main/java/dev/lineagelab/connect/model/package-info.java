// SPDX-License-Identifier: Apache-2.0
/**
 * What the rooms of the plugin pass to one another: immutable values, none of which does anything.
 */
package dev.lineagelab.connect.model;
