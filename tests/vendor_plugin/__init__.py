# SPDX-License-Identifier: Apache-2.0
"""Common parts of the fakes of vendors' Pulumi plugins: validation against the vendor's SDK, and the protocol."""
