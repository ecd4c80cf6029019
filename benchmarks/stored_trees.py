"""The stored form of fitted trees, as `engine.retrieval.calibration.trees` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier


def stored_trees(
    classifier: HistGradientBoostingClassifier, names: Sequence[str], widths: Sequence[float]
) -> dict[str, Any]:
    """Nodes of every tree as parallel lists; a leaf points at itself and its threshold is null.

    `widths` says for each feature how soft its splits are.
    """
    trees = []
    for (predictor,) in classifier._predictors:
        nodes = predictor.nodes
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
                    float(f"{value:.6g}") if ends else 0.0 for ends, value in zip(leaf, nodes["value"], strict=True)
                ],
            }
        )
    intercept = float(np.ravel(classifier._baseline_prediction)[0])
    return {
        "features": list(names),
        "widths": [float(f"{width:.4g}") for width in widths],
        "trees": trees,
        "intercept": intercept,
    }
