// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;

/** Collects a response body, and cancels the exchange if the body exceeds a limit. */
final class LimitedBodySubscriber implements BodySubscriber<byte[]> {
  private final int limit;
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
  private Subscription subscription;

  /** Create a subscriber for a body of at most {@code limit} bytes. */
  LimitedBodySubscriber(final int limit) {
    this.limit = limit;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return whole;
  }

  @Override
  public void onSubscribe(final Subscription given) {
    subscription = given;
    given.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(final List<ByteBuffer> parts) {
    for (final ByteBuffer part : parts) {
      if (part.remaining() > limit - body.size()) {
        subscription.cancel();
        whole.completeExceptionally(new IOException("the response exceeds " + limit + " bytes"));
        return;
      }
      final byte[] bytes = new byte[part.remaining()];
      part.get(bytes);
      body.writeBytes(bytes);
    }
  }

  @Override
  public void onError(final Throwable failure) {
    whole.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    whole.complete(body.toByteArray());
  }
}
