// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.rest;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Decides by the headers of a request whether a page of another origin may have sent it. */
public final class RequestPolicy {
  private static final Pattern AUTHORITY =
      Pattern.compile("(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:\\d{1,5})?");

  /** Suffix of the name of a service in Kubernetes; no public domain ends with it. */
  private static final Pattern CLUSTER_SUFFIX =
      Pattern.compile("\\.[a-z0-9-]+\\.svc(\\.cluster\\.local)?$");

  private static final Pattern IP_V4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

  private final Set<String> hosts;

  /**
   * @param hosts names of this server, beside {@code localhost}
   */
  public RequestPolicy(Collection<String> hosts) {
    this.hosts =
        Stream.concat(Stream.of("localhost"), hosts.stream())
            .map(RequestPolicy::normalized)
            .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Return why a request is refused; empty if it is accepted.
   *
   * @param host value of the Host header; null without one, which no browser omits
   * @param origin value of the Origin header; null without one
   * @param site value of the Sec-Fetch-Site header, which pages cannot set; null without one
   * @param mode value of the Sec-Fetch-Mode header; null without one
   */
  public Optional<String> refusal(String host, String origin, String site, String mode) {
    if (host != null && !isKnown(host)) {
      return Optional.of(
          "the Host header is neither an IP address nor a name of this server; use http://localhost"
              + " or the server's IP address");
    }
    if (origin != null && !isSameOrigin(origin, host)) {
      return Optional.of("the request comes from a page of another origin");
    }
    if ("cross-site".equals(site) && !"navigate".equals(mode)) {
      return Optional.of("the request comes from a page of another site");
    }
    return Optional.empty();
  }

  private boolean isKnown(String host) {
    Matcher authority = AUTHORITY.matcher(host);
    if (!authority.matches()) {
      return false;
    }
    String name = normalized(authority.group(1));
    // An address cannot be rebound: a page has it only if this server sent the page.
    return name.startsWith("[")
        || IP_V4.matcher(name).matches()
        || hosts.contains(CLUSTER_SUFFIX.matcher(name).replaceFirst(""));
  }

  private static boolean isSameOrigin(String origin, String host) {
    if (host == null) {
      return false;
    }
    String own = host.toLowerCase(Locale.ROOT);
    String given = origin.toLowerCase(Locale.ROOT);
    return given.equals("http://" + own) || given.equals("https://" + own);
  }

  private static String normalized(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
  }
}
