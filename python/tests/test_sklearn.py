"""scikit-learn's own checks. An item of X is an episode; a 2-D X is one-step episodes, its last column
the action."""
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import kindred

MODELS = [kindred.PGKMeans(2), kindred.ReturnKMeans(2)]
NEEDS_REWARDS = "Return+KMeans clusters returns, and a table has no rewards"


def expected_failures(estimator):
    """None but where a method cannot work on a table at all: every check that fits one."""
    if not isinstance(estimator, kindred.ReturnKMeans):
        return {}
    return {name: NEEDS_REWARDS for name in FITTING}


FITTING = [
    "check_clustering",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_transformer_data_not_an_array",
    "check_transformer_general",
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(MODELS, expected_failed_checks=expected_failures)
def test_check(estimator, check):
    check(estimator)


def test_expected_failures_are_checks():
    names = {getattr(check, "func", check).__name__ for _, check in estimator_checks_generator(MODELS[1])}
    assert set(FITTING) <= names
