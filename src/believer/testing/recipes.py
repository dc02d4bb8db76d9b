"""Laws of recipes with further capabilities: to store models, or to fix their random draws."""

from __future__ import annotations

import json

import numpy as np

from believer.surrogates.data import Data
from believer.surrogates.protocols import Conditionable, Restorable, Stochastic, Surrogate
from believer.testing.contract import Breach, law, laws_in, require
from believer.testing.scenes import fitted, predicted, require_same_bits, scene


def _restorable(surrogate: Surrogate) -> Restorable:
    if not isinstance(surrogate, Restorable):
        raise Breach(f"{type(surrogate).__name__} has no describe and restore.")
    return surrogate


def _stochastic(surrogate: Surrogate) -> Stochastic:
    if not isinstance(surrogate, Stochastic):
        raise Breach(f"{type(surrogate).__name__} has no with_fixed_draws.")
    return surrogate


@law("Describe models by dicts, lists, str, int, finite float, bool and None: a journal writes them down.", Restorable)
def a_description_is_plain_json(surrogate: Surrogate) -> None:
    """What is read back is what was written."""
    state = _restorable(surrogate).describe(fitted(surrogate, scene()))
    require(isinstance(state, dict), f"describe returned {type(state).__name__}, not a dict.")
    require(json.loads(json.dumps(state, allow_nan=False)) == state, f"JSON changes the description {state!r:.200}.")


@law("Describe everything that fit has learned, and rebuild the model by the arithmetic of fit.", Restorable)
def a_restored_model_is_the_one_described_bit_for_bit(surrogate: Surrogate) -> None:
    """Through JSON; conditioned, the two stay the same. A fit warm-started from either is the same too."""
    recipe = _restorable(surrogate)
    for n in (1, 12):
        data = scene(n=n)
        model = fitted(surrogate, data)
        state = json.loads(json.dumps(recipe.describe(model)))
        restored = recipe.restore(Data(data.X.copy(), data.y.copy()), state)
        require_same_bits(predicted(model, data.at), predicted(restored, data.at), "restored")
        if isinstance(model, Conditionable):
            if not isinstance(restored, Conditionable):
                raise Breach("the restored model cannot be conditioned, though the fitted one can.")
            X, y = data.at[:2], np.full(2, data.y[0])
            one, two = (
                predicted(model.condition(Data(X, y)), data.at),
                predicted(restored.condition(Data(X, y)), data.at),
            )
            require_same_bits(one, two, "restored and conditioned")
        more = scene(n=14, seed=1)
        one, two = (predicted(fitted(surrogate, more, previous=start), data.at) for start in (model, restored))
        require_same_bits(one, two, "fitted with the restored model as a warm start")


@law(
    "Derive all random draws of the fit from the fixed seed and an observation's position, and none from rng.",
    Stochastic,
)
def with_fixed_draws_the_generator_does_not_matter(surrogate: Surrogate) -> None:
    """Two fits with different generators, bit for bit; the same from a second recipe of that seed."""
    data = scene()
    recipe = _stochastic(surrogate).with_fixed_draws(11)
    first = predicted(fitted(recipe, data, seed=0), data.at)
    require_same_bits(first, predicted(fitted(recipe, data, seed=1), data.at), "with fixed draws and another generator")
    twin = _stochastic(surrogate).with_fixed_draws(11)
    require_same_bits(first, predicted(fitted(twin, data, seed=2), data.at), "from with_fixed_draws(11) called again")


@law("The seed of with_fixed_draws must determine the draws that rng determines otherwise.", Stochastic)
def the_seed_of_fixed_draws_matters_where_the_generator_did(surrogate: Surrogate) -> None:
    """If models of ten generators differ, so do models of ten seeds; some recipes draw for some settings only."""
    data, recipe = scene(), _stochastic(surrogate)
    free = [predicted(fitted(surrogate, data, seed=s), data.at).mean for s in range(10)]
    fixed = [predicted(fitted(recipe.with_fixed_draws(s), data), data.at).mean for s in range(10)]
    drawn, seeded = (any(not np.array_equal(means[0], mean) for mean in means) for means in (free, fixed))
    require(seeded or not drawn, "ten generators gave different models, ten seeds of with_fixed_draws the same one.")


@law("Return a new recipe from with_fixed_draws (dataclasses.replace).", Stochastic)
def fixing_draws_leaves_the_recipe_as_it_was(surrogate: Surrogate) -> None:
    """The recipe still fits as before, and still follows its generator."""
    data = scene()
    before = predicted(fitted(surrogate, data), data.at)
    _stochastic(surrogate).with_fixed_draws(11)
    require_same_bits(before, predicted(fitted(surrogate, data), data.at), "after with_fixed_draws was called")


LAWS = laws_in(globals())
