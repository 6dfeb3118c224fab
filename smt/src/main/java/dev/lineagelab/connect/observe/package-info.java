// SPDX-License-Identifier: Apache-2.0
/**
 * What can be seen from within a worker: topics and schemas by the transform, states by the REST
 * extension, counts in Connect's own metrics.
 */
package dev.lineagelab.connect.observe;
