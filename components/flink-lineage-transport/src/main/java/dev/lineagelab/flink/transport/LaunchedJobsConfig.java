// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.transport;

import io.openlineage.client.MergeConfig;
import io.openlineage.client.transports.TransportConfig;

/**
 * Properties of the transport, as OpenLineage reads them from {@code openlineage.transport.*} of
 * Flink's configuration and from its own file.
 *
 * <p>{@code jobIdPrefix}: first hexadecimal digits of the ids of jobs that have a launcher. {@code
 * transport}: where events go, as without this transport.
 */
public final class LaunchedJobsConfig implements TransportConfig, MergeConfig<LaunchedJobsConfig> {
  private static final String PROPERTIES = "openlineage.transport.";

  private String jobIdPrefix;
  private TransportConfig transport;

  public String getJobIdPrefix() {
    return jobIdPrefix;
  }

  public void setJobIdPrefix(String jobIdPrefix) {
    this.jobIdPrefix = jobIdPrefix;
  }

  public TransportConfig getTransport() {
    return transport;
  }

  public void setTransport(TransportConfig transport) {
    this.transport = transport;
  }

  @Override
  public LaunchedJobsConfig mergeWithNonNull(LaunchedJobsConfig other) {
    LaunchedJobsConfig merged = new LaunchedJobsConfig();
    merged.jobIdPrefix = mergePropertyWith(jobIdPrefix, other.jobIdPrefix);
    merged.transport = mergePropertyWith(transport, other.transport);
    return merged;
  }

  /** Throws IllegalArgumentException where a property is missing or invalid. */
  void requireComplete() {
    if (jobIdPrefix == null || !jobIdPrefix.matches("[0-9a-f]{4,16}")) {
      throw new IllegalArgumentException(
          "Cannot start the transport of type "
              + LaunchedJobsTransportBuilder.TYPE
              + ": "
              + PROPERTIES
              + "jobIdPrefix is "
              + jobIdPrefix
              + ", not 4 to 16 hexadecimal digits in lower case; give the FLINK_JOB_ID_PREFIX of the launchers");
    }
    if (transport == null) {
      throw new IllegalArgumentException(
          "Cannot start the transport of type "
              + LaunchedJobsTransportBuilder.TYPE
              + ": it has no transport for its events; set "
              + PROPERTIES
              + "transport.type and the properties of that type");
    }
  }
}
