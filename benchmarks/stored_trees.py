"""The stored form of fitted trees, as `engine.retrieval.trees` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier


def stored_trees(classifiers: Sequence[HistGradientBoostingClassifier], names: Sequence[str]) -> dict[str, Any]:
    """Nodes of every tree as parallel lists; a leaf points at itself and its threshold is null.

    The trees of several classifiers are laid side by side, their values shared out, so that the sum is
    the mean of the classifiers' log-odds.
    """
    trees, depth = [], 0
    for (predictor,) in (predictors for each in classifiers for predictors in each._predictors):
        nodes = predictor.nodes
        depth = max(depth, int(nodes["depth"].max()))
        own = np.arange(len(nodes))
        leaf = nodes["is_leaf"].astype(bool)
        trees.append(
            {
                "feature": np.where(leaf, 0, nodes["feature_idx"]).tolist(),
                "threshold": [
                    None if ends or not np.isfinite(limit) else float(f"{limit:.7g}")
                    for ends, limit in zip(leaf, nodes["num_threshold"], strict=True)
                ],
                "left": np.where(leaf, own, nodes["left"]).tolist(),
                "right": np.where(leaf, own, nodes["right"]).tolist(),
                "value": [
                    float(f"{value / len(classifiers):.5g}") if ends else 0.0
                    for ends, value in zip(leaf, nodes["value"], strict=True)
                ],
            }
        )
    intercept = float(np.mean([np.ravel(each._baseline_prediction)[0] for each in classifiers]))
    return {"features": list(names), "trees": trees, "depth": depth, "intercept": intercept}
