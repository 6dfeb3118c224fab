# SPDX-License-Identifier: Apache-2.0
"""Access control: host names and origins, API keys with scopes, audit log. Independent of HTTP servers."""
