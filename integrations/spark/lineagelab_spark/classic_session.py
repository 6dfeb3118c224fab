# SPDX-License-Identifier: Apache-2.0
"""Check for sessions of Spark Connect, whose plans are not in the driver."""


class SparkConnectError(TypeError):
    """A session of Spark Connect was passed where a classic one is needed."""


def require_classic(session: object, attempt: str) -> None:
    """Raise SparkConnectError if a session is one of Spark Connect.

    Args:
        session: a `SparkSession`.
        attempt: what is attempted on the session, for the message.
    """
    kind = type(session)
    if not hasattr(session, "_jsparkSession"):
        raise SparkConnectError(
            f"cannot {attempt}: {kind.__module__}.{kind.__qualname__} is a session of Spark Connect, whose plans are "
            "on the server. Run the driver with a classic session (spark.api.mode=classic, and no SPARK_REMOTE or "
            "`remote()`), or enable OpenLineage's agent on the server: spark.extraListeners="
            "io.openlineage.spark.agent.OpenLineageSparkListener"
        )
