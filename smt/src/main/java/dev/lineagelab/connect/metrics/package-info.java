// SPDX-License-Identifier: Apache-2.0
/** Record counts and states that Connect publishes as JMX metrics of this worker. */
package dev.lineagelab.connect.metrics;
