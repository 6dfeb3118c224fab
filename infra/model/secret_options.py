# SPDX-License-Identifier: Apache-2.0
"""Detection of secrets in connector options, and of references to secrets (`${provider:key}`)."""

import re

HIDDEN = "(hidden)"
"""Replacement for a possibly secret value in output and stored state."""

_REFERENCE = re.compile(r"\$\{([^:{}]+):(?:[^:{}]*:)?([^{}]+)\}")
_SECRET = re.compile(
    r"password|passwd|passphrase|[._-]pass$|secret(?!s)|credential|token(?!iz)|jaas\.config|private[._-]?key"
    r"|api[._-]?key|user\.info|authorization|keystore\.key",
    re.I,
)
_IN_URL = re.compile(r"://[^/\s:@]+:[^/\s@]+@")
_LITERAL_IN_JAAS = re.compile(r"password\s*=\s*[\"'][^\"']+[\"']", re.I)
_NO_SECRET = re.compile(r"(provider|class|name|type|path|file|location|url|uri|endpoint|enabled?|ms|seconds)$", re.I)


def is_secret(option: str) -> bool:
    """Return True if the name of an option denotes a secret: `database.password`, not `credentials.provider`."""
    return bool(_SECRET.search(option)) and not _NO_SECRET.search(option)


def is_reference(value: str) -> bool:
    """Return True if a value consists of references that the worker resolves.

    References are `${provider:key}` or `${provider:path:key}`. In a JAAS configuration, every password must be one.
    """
    rest, count = _REFERENCE.subn("", value)
    return bool(count) and (not rest.strip() or ("LoginModule" in rest and not _LITERAL_IN_JAAS.search(rest)))


def has_password_in_url(value: str) -> bool:
    """Return True if a value contains a URL with a literal password."""
    return bool(_IN_URL.search(_REFERENCE.sub("", value)))


def references(value: str) -> list[tuple[str, str]]:
    """Return provider and key of each reference in a value."""
    return [(match.group(1), match.group(2)) for match in _REFERENCE.finditer(value)]
