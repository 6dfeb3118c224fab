# SPDX-License-Identifier: Apache-2.0
"""Certificate authorities that the commands trust."""

import os
import ssl

AUTHORITY_VARIABLE = "LAB_CA_FILE"
"""Environment variable with the certificate of a further authority, such as that in the `lab.env` of a lab with TLS."""


def trusted_authorities(file: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts the authorities of this machine, and that in `file`, else in `AUTHORITY_VARIABLE`.

    Raises:
        OSError: the file cannot be read.
    """
    context = ssl.create_default_context()
    if own := file or os.environ.get(AUTHORITY_VARIABLE):
        context.load_verify_locations(own)
    return context
