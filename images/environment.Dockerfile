# SPDX-License-Identifier: Apache-2.0
# One of the kit's virtual environments, installed of wheels that the host has downloaded and verified.
ARG BASE_IMAGE
# Its layers hold the wheels and pip. Nothing of them stays: `lab images build` removes what bears this label.
FROM ${BASE_IMAGE} AS packages
LABEL dev.lineage-lab.stage=packages
USER root
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip python3-venv
COPY pinned/ /
ARG ENVIRONMENT
RUN python3 -m venv --without-pip /opt/lineage-lab/venvs/${ENVIRONMENT} \
 && python3 -m pip --python /opt/lineage-lab/venvs/${ENVIRONMENT}/bin/python install \
      --no-index --no-deps --no-cache-dir --no-input --progress-bar off /wheels/*.whl

FROM ${BASE_IMAGE}
COPY --from=packages /opt/lineage-lab/venvs/ /opt/lineage-lab/venvs/
