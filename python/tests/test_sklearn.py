"""scikit-learn's own checks. An item of X is an episode; a 2-D X is one-step episodes, its last column
the action."""
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import kindred

SMALL = {"hidden": 16, "n_jobs": 1}
ENCODER = {**SMALL, "gru_width": 16, "heads": 1, "head_size": 8, "max_steps": 20}
MODELS = [
    kindred.PolicySearch(2),
    kindred.PGKMeans(2),
    kindred.ReturnKMeans(2),
    kindred.CAAE(2, **ENCODER),
    kindred.DEC(2, **ENCODER),
    kindred.VAEKMeans(2, **ENCODER),
    kindred.VQVAE(2, **ENCODER),
    kindred.SORL(2, **SMALL, max_rounds=4),
]
NEEDS_REWARDS = "Return+KMeans clusters returns, and a table has no rewards"
NOT_BLOBS = "three blobs are not three policies: it groups what is done, and a point is one step of it"


def expected_failures(estimator):
    """Where a method cannot work on a table at all, every check that fits one; else what it is not for."""
    if isinstance(estimator, kindred.ReturnKMeans):
        return dict.fromkeys(FITTING, NEEDS_REWARDS)
    if isinstance(estimator, (kindred.PolicySearch, kindred.PGKMeans, kindred.CAAE, kindred.VQVAE)):
        return {"check_clustering": NOT_BLOBS}
    return {}


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
