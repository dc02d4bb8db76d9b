"""Sixty seconds: a noisy, expensive function, four worker processes, and a page that shows what was found."""

import math
import random
import sys
import time

import believer as bv

SPACE = bv.Space(
    {
        "learning_rate": bv.Float(1e-5, 1e-1, log=True),
        "layers": bv.Int(1, 8),
        "dropout": bv.Float(0, 0.6),
        "activation": bv.Categorical(["relu", "gelu", "tanh"]),
    }
)


def train(params):
    """Stands in for a training run: replace it by your own, which returns the number to be made small."""
    time.sleep(0.2)
    loss = 0.3 + 0.2 * abs(math.log10(params["learning_rate"] / 2e-3)) ** 1.5
    loss += 0.01 * (params["layers"] - 4) ** 2 + 0.5 * (params["dropout"] - 0.15) ** 2
    return loss + {"relu": 0.02, "gelu": 0.0, "tanh": 0.06}[params["activation"]] + random.gauss(0, 0.005)


def main(budget=48):
    result = bv.minimize(train, SPACE, budget, workers=4, seed=1, journal="sixty_seconds.jsonl")
    print(result)
    print("Use:", result.recommended)  # of noisy results the best one is partly luck, and this is not
    result.optimizer.report("sixty_seconds.html")
    print("The page sixty_seconds.html shows the study. Run this again with 96: it goes on from its journal.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
