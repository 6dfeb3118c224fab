// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.model.ConnectorType;
import org.apache.kafka.connect.data.Schema;

/**
 * Topic and schemas of a record.
 *
 * @param key null if there is none
 * @param value null if there is none
 * @param at in milliseconds
 */
public record Sight(String topic, Schema key, Schema value, ConnectorType type, long at) {}
