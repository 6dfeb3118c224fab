# SPDX-License-Identifier: Apache-2.0
"""Profiles of features: another distribution is found, and chance is not taken for one, however few the values are."""

import json
import math
import random

import pytest

from lineagelab_scikit_learn import FeatureProfile

SEEDS = range(200)


def normal(seed, rows, mean=100.0, deviation=10.0):
    chance = random.Random(seed)
    return [chance.gauss(mean, deviation) for _ in range(rows)]


def test_profile_has_the_moments_of_its_values_and_every_value_in_a_bin():
    profile = FeatureProfile.of([4.0, 1.0, 3.0, 2.0, 5.0])
    assert (profile.rows, profile.mean, profile.minimum, profile.maximum) == (5, 3.0, 1.0, 5.0)
    assert profile.deviation == pytest.approx(math.sqrt(2))
    assert profile.counts == (0, 1, 1, 1, 1, 1, 0)


@pytest.mark.parametrize(("trained", "later"), [(20, 5), (20, 200), (500, 10), (2000, 2000)])
def test_values_of_the_same_distribution_have_not_drifted(trained, later):
    drifted = [
        seed for seed in SEEDS if FeatureProfile.of(normal(seed, trained)).drift(normal(-seed - 1, later)).has_drifted
    ]
    # One in a thousand is expected where many values are compared. Bins of few are further from the limit's theory.
    assert len(drifted) <= 0.02 * len(SEEDS), drifted


@pytest.mark.parametrize(
    "change", [lambda value: value * 100, lambda value: value + 30, lambda value: 100.0, lambda value: -value]
)
@pytest.mark.parametrize(("trained", "later"), [(50, 20), (2000, 100)])
def test_values_of_another_distribution_have_drifted(change, trained, later):
    for seed in SEEDS:
        profile = FeatureProfile.of(normal(seed, trained))
        assert profile.drift([change(value) for value in normal(-seed - 1, later)]).has_drifted, seed


def test_a_constant_feature_drifts_when_it_varies_in_any_direction():
    profile = FeatureProfile.of([7.0] * 30)
    assert not profile.drift([7.0] * 30).has_drifted
    assert profile.drift([8.0] * 30).has_drifted
    assert profile.drift([6.0] * 30).has_drifted


def test_nothing_later_is_no_drift():
    assert FeatureProfile.of([1.0, 2.0]).drift([]) is None


def test_index_is_that_of_its_definition():
    profile = FeatureProfile.of([7.0] * 9)
    before, after = [0.5 / 10.5, 9.5 / 10.5, 0.5 / 10.5], [0.5 / 10.5, 0.5 / 10.5, 9.5 / 10.5]
    expected = sum((new - old) * math.log(new / old) for old, new in zip(before, after, strict=True))
    assert profile.drift([8.0] * 9).index == pytest.approx(expected)


def test_profile_survives_json():
    profile = FeatureProfile.of(normal(1, 100))
    assert FeatureProfile.parse(json.loads(json.dumps(profile.to_json()))) == profile


@pytest.mark.parametrize("junk", [{}, {"rows": 1}, {"limits": 3, "counts": []}, {"limits": [], "counts": [], "x": 1}])
def test_junk_is_no_profile(junk):
    with pytest.raises(ValueError, match="not the profile of a feature"):
        FeatureProfile.parse(junk)


@pytest.mark.parametrize("values", [[], [1.0, math.nan], [math.inf]])
def test_values_without_a_distribution_are_refused(values):
    with pytest.raises(ValueError, match="a profile needs values"):
        FeatureProfile.of(values)
