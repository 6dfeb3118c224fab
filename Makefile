# SPDX-License-Identifier: Apache-2.0
# Shortcuts for the `lab` command. STACK selects the lab: make up STACK=docker
STACK ?= dev
MINUTES ?= 10
SEED ?= 1

.PHONY: up verify down test test-all bench chaos
up: ; bin/lab up --stack $(STACK)
verify: ; bin/lab verify --stack $(STACK)
down: ; bin/lab down --stack $(STACK)
test: ; bin/lab test
test-all: ; @bin/lab test --all
bench: ; bin/lab bench
chaos: ; bin/lab chaos --minutes $(MINUTES) --seed $(SEED)
