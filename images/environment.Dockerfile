# SPDX-License-Identifier: Apache-2.0
# A virtual environment of the kit, installed from wheels that the host has downloaded and verified.
ARG BASE_IMAGE
# This stage contains the wheels and pip. `lab images build` removes images with the label of a stage.
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
ARG ENVIRONMENT
COPY --from=packages /opt/lineage-lab/venvs/${ENVIRONMENT}/ /opt/lineage-lab/venvs/${ENVIRONMENT}/
