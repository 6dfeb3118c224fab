# SPDX-License-Identifier: Apache-2.0
"""Response models, one module per group of routes. The OpenAPI document is generated from them.

Small responses are instances of these models. Long ones are encoded row by row from dictionaries, because validating
each row costs more than making it; a test validates real responses of every route against the models.
"""
