# SPDX-License-Identifier: Apache-2.0
# Python: the base image's if it has one, else Debian's.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
USER root
RUN if ! command -v python3 >/dev/null; then \
      apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*; \
    fi \
 && python3 -c 'import sys; assert sys.version_info[:2] == (3, 11), f"the wheels require Python 3.11, not {sys.version}"'
USER 10001:10001
