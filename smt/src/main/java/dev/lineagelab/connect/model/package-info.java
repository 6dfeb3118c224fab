// SPDX-License-Identifier: Apache-2.0
/** Immutable values that the packages of the plugin exchange. */
package dev.lineagelab.connect.model;
