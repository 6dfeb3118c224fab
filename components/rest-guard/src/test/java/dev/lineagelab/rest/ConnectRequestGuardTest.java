// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.rest;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.Configurable;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.health.ConnectClusterState;
import org.apache.kafka.connect.rest.ConnectRestExtensionContext;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The responses themselves are tested with a real worker: JAX-RS needs an implementation to make
 * one.
 */
class ConnectRequestGuardTest {
  @ParameterizedTest
  @ValueSource(strings = {"localhost", "10.1.2.3:8083", "connect:8083", "worker-1:8083", "other"})
  void requestsUnderTheNamesOfTheWorkerAreServed(String host) throws Exception {
    filterOf(Map.of("rest.advertised.host.name", "worker-1", "rest.guard.hosts", "connect, other"))
        .filter(request(Map.of("Host", host)));
  }

  private static ConnectRequestGuard.Filter filterOf(Map<String, String> settings) {
    ConnectRequestGuard guard = new ConnectRequestGuard();
    guard.configure(settings);
    List<Object> registered = new ArrayList<>();
    guard.register(
        new ConnectRestExtensionContext() {
          @Override
          @SuppressWarnings({"unchecked", "rawtypes"})
          public Configurable<? extends Configurable<?>> configurable() {
            return (Configurable)
                Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {Configurable.class},
                    (proxy, method, arguments) -> {
                      registered.add(arguments[0]);
                      return proxy;
                    });
          }

          @Override
          public ConnectClusterState clusterState() {
            throw new UnsupportedOperationException();
          }
        });
    assertThat(registered).hasSize(1);
    return (ConnectRequestGuard.Filter) registered.get(0);
  }

  /** Return a request that fails if it is refused. */
  private static ContainerRequestContext request(Map<String, String> headers) {
    return (ContainerRequestContext)
        Proxy.newProxyInstance(
            ConnectRequestGuardTest.class.getClassLoader(),
            new Class<?>[] {ContainerRequestContext.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("getHeaderString");
              return headers.get((String) arguments[0]);
            });
  }
}
