// SPDX-License-Identifier: Apache-2.0
/**
 * How events leave the worker: over a bounded queue and a thread of its own, so that nobody who
 * makes an event ever waits for whoever takes it.
 */
package dev.lineagelab.connect.emit;
