# SPDX-License-Identifier: Apache-2.0
# Python and one of the kit's virtual environments, installed of wheels that the host has downloaded and verified.
ARG BASE_IMAGE
FROM ${BASE_IMAGE} AS python
USER root
RUN if ! command -v python3 >/dev/null; then \
      apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*; \
    fi \
 && python3 -c 'import sys; assert sys.version_info[:2] == (3, 11), f"the wheels are of Python 3.11, not {sys.version}"'

# Its layers hold the wheels and pip. Nothing of them stays: `lab images build` removes what bears this label.
FROM python AS packages
LABEL dev.lineage-lab.stage=packages
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip python3-venv
COPY pinned/ /
ARG ENVIRONMENT
RUN python3 -m venv --without-pip /opt/lineage-lab/venvs/${ENVIRONMENT} \
 && python3 -m pip --python /opt/lineage-lab/venvs/${ENVIRONMENT}/bin/python install \
      --no-index --no-deps --no-cache-dir --no-input --progress-bar off /wheels/*.whl

FROM python
COPY --from=packages /opt/lineage-lab/venvs/ /opt/lineage-lab/venvs/
USER 10001:10001
