"""Tune a scikit-learn pipeline: BatchSearchCV is used as RandomizedSearchCV is, and learns from earlier candidates."""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import believer as bv
from believer.integrations.sklearn import BatchSearchCV


def main(n_iter=24):
    X, y = (rows[:600] for rows in load_digits(return_X_y=True))
    pipeline = make_pipeline(StandardScaler(), SVC())

    search = BatchSearchCV(
        pipeline,
        {
            "svc__C": bv.Float(1e-3, 1e3, log=True),
            "svc__gamma": bv.Float(1e-5, 1, log=True),
            "svc__kernel": ["rbf", "poly", "sigmoid"],
        },
        n_iter=n_iter,
        q=4,  # four candidates at a time: 4 x 5 folds are fitted together, with n_jobs=-1 on all processors
        random_state=0,
    )
    search.fit(X, y)

    scores = np.maximum.accumulate(search.cv_results_["mean_test_score"])
    for tried in range(4, len(scores) + 1, 4):
        print(f"the best of {tried:>2} candidates: {scores[tried - 1]:.4f} in cross-validation")
    print("best:", search.best_params_)
    print("why the last candidate was tried:", search.cv_results_["provenance"][-1])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
