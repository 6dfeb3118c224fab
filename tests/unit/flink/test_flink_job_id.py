# SPDX-License-Identifier: Apache-2.0
"""Tests of the ids by which a lineage transport in the cluster recognises jobs with a launcher."""

import pytest

from lineagelab_flink.job_id import MAX_PREFIX_DIGITS, check_prefix, listener_reports_start, new_job_id

PREFIX = "1ab0a11c"


@pytest.mark.parametrize("prefix", ["", PREFIX, "a" * MAX_PREFIX_DIGITS])
@pytest.mark.parametrize("names_datasets", [True, False])
def test_ids_are_unique_and_have_the_digits_that_flink_demands(prefix, names_datasets):
    check_prefix(prefix)
    ids = {new_job_id(prefix, names_datasets=names_datasets) for _ in range(100)}
    assert len(ids) == 100
    assert all(len(job_id) == 32 and int(job_id, 16) >= 0 and job_id.startswith(prefix) for job_id in ids)


def test_the_digit_behind_the_prefix_tells_who_names_the_datasets():
    assert new_job_id(PREFIX, names_datasets=True).startswith(PREFIX + "1")
    assert new_job_id(PREFIX, names_datasets=False).startswith(PREFIX + "0")


@pytest.mark.parametrize(
    ("job_id", "prefix", "expected"),
    [
        (f"{PREFIX}0{'2' * 23}", PREFIX, True),
        (f"{PREFIX}1{'2' * 23}", PREFIX, False),
        ("0" * 32, "", False),
        ("2" * 32, PREFIX, False),
    ],
)
def test_the_listener_reports_the_start_only_of_jobs_whose_datasets_it_alone_knows(job_id, prefix, expected):
    assert listener_reports_start(job_id, prefix) is expected


@pytest.mark.parametrize("prefix", ["1ab", "1AB0A11C", "launched", "a" * (MAX_PREFIX_DIGITS + 1)])
def test_an_invalid_prefix_is_refused(prefix):
    with pytest.raises(ValueError, match=f"FLINK_JOB_ID_PREFIX is '{prefix}'"):
        check_prefix(prefix)
