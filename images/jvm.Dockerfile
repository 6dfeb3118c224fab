# SPDX-License-Identifier: Apache-2.0
# Java runtime of most services: the base image's if it has one, else Debian's.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
ARG JAVA_PACKAGE=openjdk-17-jre-headless
USER root
# The package's install script requires the folder of the manual pages, which slim images lack.
RUN if ! command -v java >/dev/null; then \
      mkdir -p /usr/share/man/man1 \
      && apt-get update && apt-get install -y --no-install-recommends ${JAVA_PACKAGE} \
      && rm -rf /var/lib/apt/lists/*; \
    fi \
 && mkdir -p /opt/lineage-lab/java \
 && ln -s "$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")" /opt/lineage-lab/java/17
USER 10001:10001
