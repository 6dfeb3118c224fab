// SPDX-License-Identifier: Apache-2.0
/**
 * Life cycle of a connector's runs: state machine, run ids and the persistent state of a run. Pure
 * functions and values without I/O.
 */
package dev.lineagelab.connect.runs;
