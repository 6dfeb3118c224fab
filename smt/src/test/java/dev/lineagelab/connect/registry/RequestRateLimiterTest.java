// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RequestRateLimiterTest {
  private final AtomicLong now = new AtomicLong();
  private final RequestRateLimiter rateLimiter = new RequestRateLimiter(2, now::get);

  @Test
  void limitsRequestsPerSlidingMinute() {
    assertThat(rateLimiter.tryAcquire()).isZero();
    now.set(Duration.ofSeconds(40).toNanos());
    assertThat(rateLimiter.tryAcquire()).isZero();
    assertThat(rateLimiter.tryAcquire()).isEqualTo(Duration.ofSeconds(20));
    now.set(Duration.ofSeconds(60).toNanos());
    assertThat(rateLimiter.tryAcquire()).isZero();
    assertThat(rateLimiter.tryAcquire()).isEqualTo(Duration.ofSeconds(40));
  }
}
