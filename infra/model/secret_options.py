# SPDX-License-Identifier: Apache-2.0
"""Which options of a connector hold secrets, and how a configuration refers to one instead of holding it."""

import re

HIDDEN = "(hidden)"
"""Stands for a value that may be a secret and is shown or kept somewhere."""

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
    """Whether an option is a secret by its name: `database.password` is, `credentials.provider` is not."""
    return bool(_SECRET.search(option)) and not _NO_SECRET.search(option)


def is_reference(value: str) -> bool:
    """Whether a value is made of references that the worker resolves, `${provider:key}` or `${provider:path:key}`.

    Of a JAAS configuration its passwords must be.
    """
    rest, count = _REFERENCE.subn("", value)
    return bool(count) and (not rest.strip() or ("LoginModule" in rest and not _LITERAL_IN_JAAS.search(rest)))


def has_password_in_url(value: str) -> bool:
    """Whether a value is a URL with a user's password in it that is no reference."""
    return bool(_IN_URL.search(_REFERENCE.sub("", value)))


def references(value: str) -> list[tuple[str, str]]:
    """The references in a value: provider and key of each."""
    return [(match.group(1), match.group(2)) for match in _REFERENCE.finditer(value)]
