# SPDX-License-Identifier: Apache-2.0
"""Program of the tests: trains on each table of standard input, and prints what each model holds.

It runs in the environment of the models, in which the tests do not. A table is column -> values.
"""

import json
import sys

from jobs.models.feature_rows import FeatureRows
from jobs.models.price_forecast import FEATURES, TARGET, TIME, described
from jobs.models.regression import Regression, TrainingError


def _content(columns):
    rows = FeatureRows("lake.sales.supplier_features", 1, dict.fromkeys(columns, "double"), columns)
    complete = rows.without_nulls((*FEATURES, TARGET, TIME))
    try:
        found = Regression.train({name: complete.columns[name] for name in FEATURES}, complete.columns[TARGET])
    except TrainingError as error:
        return {"error": str(error)}
    scaler, ridge = found.model[0], found.model[1]
    content = {name: profile.to_json() for name, profile in found.profiles.items()}
    content[described(rows).prediction] = [*ridge.coef_, ridge.intercept_, *scaler.mean_]
    return {"fields": content, "rows": found.rows, "event": described(rows).outputs()[0]["facets"]}


json.dump([_content(columns) for columns in json.load(sys.stdin)], sys.stdout)
