// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

/**
 * Another name of a dataset.
 *
 * @param type TABLE or LOCATION
 */
public record Symlink(String namespace, String name, String type) {}
