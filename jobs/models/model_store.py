# SPDX-License-Identifier: Apache-2.0
"""Models in the object store, one for each snapshot of the table that they are trained on.

`{model}/{snapshot}/model.joblib` is the model, `{model}/{snapshot}/card.json` what is known of it, and
`{model}/latest.json` the card of the newest one, which is written last: readers never see half a model.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from io import BytesIO

import boto3
import joblib
from botocore.exceptions import BotoCoreError, ClientError

from lineagelab_scikit_learn import FeatureProfile

LATEST = "latest.json"
_MISSING = frozenset({"NoSuchKey", "404"})


class ModelStoreError(Exception):
    """The object store cannot be read or written, or has something else than a model; the message says what to do."""


@dataclass(frozen=True)
class ModelCard:
    """Metadata of a model.

    Attributes:
        table, snapshot: that it was trained on.
        trained_until: ISO 8601 time of the newest row.
        rows: on which it was trained.
        target: column that it predicts.
        profiles: feature -> distribution of its values, in the order in which the model takes them.
        error, naive_error: mean absolute errors of the model, and of the mean as forecast.
        run: id of the run that trained it.
    """

    table: str
    snapshot: int
    trained_until: str
    rows: int
    target: str
    profiles: Mapping[str, FeatureProfile]
    error: float
    naive_error: float
    run: str

    @classmethod
    def parse(cls, text: bytes) -> "ModelCard":
        """Read a card. Raises ValueError."""
        try:
            card = cls(**json.loads(text))
            profiles = {name: FeatureProfile.parse(each) for name, each in card.profiles.items()}  # type: ignore[arg-type]
        except (TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error
        return replace(card, profiles=profiles)

    def render(self) -> bytes:
        """Return the card as JSON."""
        return json.dumps(asdict(self), indent=1).encode()


class ModelStore:
    """Versions of one model. All methods raise ModelStoreError.

    Args:
        bucket: of the models.
        model: name of the model.
        endpoint: URL of the object store.
        region: of the bucket.
    """

    def __init__(self, bucket: str, model: str, endpoint: str, region: str) -> None:
        self._bucket = bucket
        self._model = model
        self._endpoint = endpoint
        self._client = boto3.client("s3", endpoint_url=endpoint, region_name=region)

    def latest(self) -> ModelCard | None:
        """Return the card of the newest model; None if there is none."""
        key = f"{self._model}/{LATEST}"
        try:
            content = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        except ClientError as error:
            if error.response["Error"]["Code"] in _MISSING:
                return None
            raise self._error(f"read {key}", error) from error
        except BotoCoreError as error:
            raise self._error(f"read {key}", error) from error
        try:
            return ModelCard.parse(content)
        except ValueError as error:
            raise ModelStoreError(
                f"s3://{self._bucket}/{key} is not the card of a model ({error}): remove it, and train again"
            ) from error

    def add(self, card: ModelCard, model: object) -> None:
        """Store a model, and make it the newest one. Repeated for a snapshot, it replaces the model."""
        folder = f"{self._model}/{card.snapshot}"
        content = BytesIO()
        joblib.dump(model, content)
        self._put(f"{folder}/model.joblib", content.getvalue())
        self._put(f"{folder}/card.json", card.render())
        self._put(f"{self._model}/{LATEST}", card.render())

    def _put(self, key: str, content: bytes) -> None:
        try:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=content)
        except (ClientError, BotoCoreError) as error:
            raise self._error(f"write {key}", error) from error

    def _error(self, attempt: str, error: Exception) -> ModelStoreError:
        return ModelStoreError(
            f"cannot {attempt} in bucket {self._bucket} at {self._endpoint}: {error}; see: bin/lab status"
        )
