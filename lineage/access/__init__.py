# SPDX-License-Identifier: Apache-2.0
"""Who may send which request: host names and origins, API keys with scopes, audit log. Independent of HTTP servers."""
