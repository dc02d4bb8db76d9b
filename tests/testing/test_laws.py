"""Every law can be broken: for each there is a fake that breaks it, and is caught by that law and no earlier one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import pytest
from each import each

from believer.arrays import Array, frozen, near_any
from believer.batch import STRATEGIES
from believer.batch.request import needs_model
from believer.surrogates.data import Data
from believer.surrogates.gp import GPModel, posterior, standardization
from believer.surrogates.gp_fit import Hyperparameters
from believer.surrogates.protocols import (
    JointPrediction,
    Model,
    Prediction,
    PredictionGradient,
    Surrogate,
)
from believer.testing import LAWS, ContractBroken, FakeModel, FakeSurrogate, check_surrogate, surrogate_checks

Generator = np.random.Generator


@dataclass(frozen=True)
class FixedGP:
    """A Gaussian process whose hyperparameters are not learnt: honest, able to do everything a model can, and quick."""

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> GPModel:
        X, y = data.X, data.y
        d = X.shape[1]
        hyper = Hyperparameters("matern52", frozen(np.full(d, 0.6 * np.sqrt(d))), 1.0, 1e-4)
        return posterior(hyper, X, y, *standardization(y))


@dataclass(frozen=True)
class Recast:
    """A recipe whose model is that of ``recipe``, made an instance of a subclass that does something wrong."""

    model: type[Any]
    recipe: Surrogate = field(default_factory=FakeSurrogate)

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        honest: Any = self.recipe.fit(Data(X, y), rng)
        return self.model(*(getattr(honest, part.name) for part in fields(honest) if part.init))


# Models that predict wrongly


class NoStd(FakeModel):
    def predict(self, X: Array) -> Prediction:
        return Prediction(super().predict(X).mean, None)  # type: ignore[arg-type]


class MeanAlone(FakeModel):
    def predict(self, X: Array) -> Any:
        return super().predict(X).mean


class WrongShape(FakeModel):
    def predict(self, X: Array) -> Prediction:
        at = super().predict(X)
        return Prediction(at.mean, at.std[:, None])


class ScalarForOne(FakeModel):
    def predict(self, X: Array) -> Prediction:
        at = super().predict(X)
        return Prediction(at.mean.squeeze(), at.std.squeeze())


class WholeNumbers(FakeModel):
    def predict(self, X: Array) -> Prediction:
        at = super().predict(X)
        return Prediction(at.mean.astype(int), at.std)


class NaNStd(FakeModel):
    def predict(self, X: Array) -> Prediction:
        at = super().predict(X)
        return Prediction(at.mean, np.where(near_any(X, self.X), np.nan, at.std))


class ZeroStd(FakeModel):
    def predict(self, X: Array) -> Prediction:
        at = super().predict(X)
        return Prediction(at.mean, np.where(near_any(X, self.X), 0.0, at.std))


class NegativeStd(FakeModel):
    def predict(self, X: Array) -> Prediction:
        at = super().predict(X)
        return Prediction(at.mean, -at.std)


class RandomPrediction(FakeModel):
    def predict(self, X: Array) -> Prediction:
        at = super().predict(X)
        return Prediction(at.mean + 1e-12 * np.random.default_rng().random(len(X)), at.std)


@dataclass(frozen=True, eq=False)
class MutatingPredict(FakeModel):
    asked: list[int] = field(default_factory=list)

    def predict(self, X: Array) -> Prediction:
        self.asked.append(len(X))
        at = FakeModel.predict(self, X)
        return Prediction(at.mean, at.std * (1.0 + 1e-12 * max(self.asked)))


class MovesPoints(FakeModel):
    def predict(self, X: Array) -> Prediction:
        if X.flags.writeable:
            np.clip(X, 0.2, 0.8, out=X)
        return super().predict(X)


class CentersPoints(FakeModel):
    def predict(self, X: Array) -> Prediction:
        return super().predict(X - X.mean(axis=0) + 0.5 if len(X) else X)


class WantsPoints(FakeModel):
    def predict(self, X: Array) -> Prediction:
        if len(X) == 0:
            raise ValueError("Found array with 0 sample(s)")
        return super().predict(X)


# Recipes that fit wrongly


class Recipe:
    """The honest one; those below do something before or after."""

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        return FakeSurrogate().fit(Data(X, y), rng)


class WritesToData(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        y -= y.mean()
        return super().fit(Data(X, y), rng)


class RefusesReadOnly(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        y[:] = y
        return super().fit(Data(X, y), rng)


class KeepsArrays(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        return FakeModel(X, y, standardization(y)[1])


class OwnGenerator(Recipe):
    """Its generator goes on from fit to fit; seeded, so that what it does to a study is no matter of luck."""

    fits = 0

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        self.fits += 1
        return super().fit(Data(X, y + 10.0 * np.random.default_rng(self.fits).standard_normal(len(y))), rng)


class KeepsCount(Recipe):
    fits = 0

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        self.fits += 1
        return super().fit(Data(X, y + 1e-9 * self.fits), rng)


class IsItsModel(Recipe):
    """In the manner of scikit-learn: ``fit`` returns self."""

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        self.inner = super().fit(Data(X, y), rng)
        return self

    def predict(self, X: Array) -> Prediction:
        at: Prediction = self.inner.predict(X)
        return at


class WantsItsOwn(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Any = None) -> Any:
        X, y = data.X, data.y
        return super().fit(Data(X, y), rng) if previous is None or previous.hyper else None


@dataclass(frozen=True, eq=False)
class Listening(FakeModel):
    heard: list[float] = field(default_factory=list)

    def predict(self, X: Array) -> Prediction:
        at = FakeModel.predict(self, X)
        return Prediction(at.mean + sum(self.heard), at.std)


class TellsPrevious(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        if isinstance(previous, Listening):
            previous.heard.append(1.0)
        return Listening(frozen(X), frozen(y), standardization(y)[1])


class WantsTwo(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        if len(y) < 2:
            raise ValueError("need two observations")
        return super().fit(Data(X, y), rng)


class DividesByRange(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        return replace(super().fit(Data(X, y), rng), scale=1.0 / (1.0 / float(np.ptp(y))) if len(y) > 1 else 1.0)


class Singular(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        np.linalg.inv(np.exp(-10.0 * ((X[:, None] - X) ** 2).sum(axis=2)))
        if len(np.unique(X, axis=0)) < len(X):
            raise np.linalg.LinAlgError("Singular matrix")
        return super().fit(Data(X, y), rng)


class UnitScale(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        return replace(super().fit(Data(X, y), rng), scale=1.0)


class ShrinksToZero(FakeModel):
    def predict(self, X: Array) -> Prediction:
        at = super().predict(X)
        return Prediction(0.999 * at.mean, at.std)


@dataclass(frozen=True, eq=False)
class HoldsLambda(FakeModel):
    link: Callable[[float], float] = field(default=lambda value: value)


class UnpicklableRecipe(Recipe):
    def __init__(self) -> None:
        self.link = lambda value: value


# Models that are conditioned wrongly


@dataclass(frozen=True, eq=False)
class MutatingCondition(FakeModel):
    lies: list[tuple[Array, Array]] = field(default_factory=list)

    def predict(self, X: Array) -> Prediction:
        told = FakeModel(self.X, self.y, self.scale)
        for points, values in self.lies:
            told = told.condition(Data(points, values))
        return told.predict(X)

    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        self.lies.append((X.copy(), y.copy()))
        return self


@dataclass(frozen=True, eq=False)
class SharesItsList(MutatingCondition):
    """The one conditioned gets a new list, but the points of all that come from it land in the same one."""

    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        lies = self.lies if self.lies else []
        lies.append((X.copy(), y.copy()))
        return replace(self, lies=lies)


class WritesToLies(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        told = super().condition(Data(X, y))
        y *= 0.5
        return told


class KeepsLies(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        told = super().condition(Data(X, y))
        return type(self)(X, y, told.scale)


class Degrades(GPModel):
    __slots__ = ()

    def condition(self, data: Data) -> Any:
        X, y = data.X, data.y
        shift, scale = self.shift, self.scale
        return FakeModel(
            frozen(np.vstack([self.X, X])), frozen(np.concatenate([shift + scale * self.y, y])), self.scale
        )


class WantsLies(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        if len(y) == 0:
            raise ValueError("need at least one array to concatenate")
        return super().condition(Data(X, y))


class Restandardizes(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        told = super().condition(Data(X, y))
        return replace(told, scale=self.scale * 1.01) if len(y) else told


class CountsRows(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        return super().condition(Data(X, y + 0.01 * (len(self.y) + np.arange(len(y)))))


class BelievesOtherwise(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        return super().condition(Data(X, y + 1e3))


class AddsUnits(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        return super().condition(Data(X, y + 1e-3))


class Deaf(FakeModel):
    def condition(self, data: Data) -> Self:
        return type(self)(self.X, self.y, self.scale)


class RefusesRepeats(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        if near_any(X, self.X).any():
            raise np.linalg.LinAlgError("Singular matrix")
        return super().condition(Data(X, y))


class BlowsUp(FakeModel):
    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        return super().condition(Data(X, np.where(near_any(X, self.X), 1e9, y)))


# Models that say wrong things of gradients, covariances and draws


class OtherValue(GPModel):
    __slots__ = ()

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at = super().predict_with_gradient(X)
        return replace(at, std=at.std * 1.001)


class FlatGradient(GPModel):
    __slots__ = ()

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at = super().predict_with_gradient(X)
        return replace(at, mean_gradient=at.mean_gradient[:, 0])


class UnscaledGradient(GPModel):
    __slots__ = ()

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at = super().predict_with_gradient(X)
        return replace(at, mean_gradient=at.mean_gradient / self.scale)


class HalfGradient(GPModel):
    """d variance/dx / std, without the two."""

    __slots__ = ()

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at = super().predict_with_gradient(X)
        return replace(at, std_gradient=2.0 * at.std_gradient)


class LastColumnGradient(GPModel):
    __slots__ = ()

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at = super().predict_with_gradient(X)
        return replace(at, std_gradient=at.std_gradient * np.append(np.ones(X.shape[1] - 1), -1.0))


class OldGradient(GPModel):
    """Right when fitted, and not conditioned along."""

    __slots__ = ()

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at = super().predict_with_gradient(X)
        return replace(at, mean_gradient=at.mean_gradient * (1.01 if len(self.factor.tail) else 1.0))


class NaNGradient(GPModel):
    __slots__ = ()

    def predict_with_gradient(self, X: Array) -> PredictionGradient:
        at = super().predict_with_gradient(X)
        return replace(at, std_gradient=np.where(near_any(X, self.X)[:, None], np.nan, at.std_gradient))


class OtherVariance(GPModel):
    __slots__ = ()

    def joint(self, X: Array) -> JointPrediction:
        at = super().joint(X)
        return JointPrediction(at.mean, 1.001 * at.covariance)


class Asymmetric(GPModel):
    __slots__ = ()

    def joint(self, X: Array) -> JointPrediction:
        at = super().joint(X)
        return JointPrediction(at.mean, at.covariance + 1e-3 * np.triu(np.ones((len(X), len(X))), 1))


class Indefinite(GPModel):
    __slots__ = ()

    def joint(self, X: Array) -> JointPrediction:
        at = super().joint(X)
        off = ~np.eye(len(X), dtype=bool)
        return JointPrediction(at.mean, np.where(off, 1.5 * at.covariance, at.covariance))


class OwnDraws(GPModel):
    __slots__ = ()

    def sample(self, X: Array, count: int, rng: Generator, *, noisy: bool = False) -> Array:
        return super().sample(X, count, np.random.default_rng(), noisy=noisy)


class OneDraw(GPModel):
    __slots__ = ()

    def sample(self, X: Array, count: int, rng: Generator, *, noisy: bool = False) -> Array:
        return super().sample(X, count, np.random.default_rng(0), noisy=noisy)


class WideDraws(GPModel):
    __slots__ = ()

    def sample(self, X: Array, count: int, rng: Generator, *, noisy: bool = False) -> Array:
        mean = self.predict(X).mean
        return mean + 1.2 * (super().sample(X, count, rng, noisy=noisy) - mean)


class IndependentDraws(GPModel):
    __slots__ = ()

    def sample(self, X: Array, count: int, rng: Generator, *, noisy: bool = False) -> Array:
        at = self.predict(X)
        drawn: Array = at.mean + at.std * rng.standard_normal((count, len(X)))
        return drawn


class SingularDraws(GPModel):
    __slots__ = ()

    def sample(self, X: Array, count: int, rng: Generator, *, noisy: bool = False) -> Array:
        if len(np.unique(X, axis=0)) < len(X):
            raise np.linalg.LinAlgError("Matrix is not positive definite")
        return super().sample(X, count, rng, noisy=noisy)


class NarrowNoise(GPModel):
    __slots__ = ()

    def sample(self, X: Array, count: int, rng: Generator, *, noisy: bool = False) -> Array:
        mean = self.predict(X).mean
        return mean + (0.5 if noisy else 1.0) * (super().sample(X, count, rng) - mean)


class SaysPerhaps(GPModel):
    __slots__ = ()

    @property
    def is_noisy(self) -> Any:
        return "perhaps"


class OneLengthscale(GPModel):
    __slots__ = ()

    @property
    def lengthscales(self) -> Any:
        return self.hyper.lengthscales[:1]


class LearnsFromLies(GPModel):
    __slots__ = ()

    @property
    def lengthscales(self) -> Array:
        return self.hyper.lengthscales

    def condition(self, data: Data) -> Self:
        X, y = data.X, data.y
        told = super().condition(Data(X, y))
        shorter = replace(self.hyper, lengthscales=frozen(self.hyper.lengthscales * (1.0 - 1e-12) ** len(y)))
        return replace(told, hyper=shorter)


# Recipes that write down or fix their draws wrongly


class Describes(Recipe):
    def describe(self, model: FakeModel) -> dict[str, Any]:
        return {"scale": model.scale}

    def restore(self, data: Data, state: dict[str, Any]) -> FakeModel:
        X, y = data.X, data.y
        return FakeModel(frozen(X), frozen(y), float(state["scale"]))


class DescribesArrays(Describes):
    def describe(self, model: FakeModel) -> dict[str, Any]:
        return {"scale": np.array([model.scale])}


class DescribesTuples(Describes):
    def describe(self, model: FakeModel) -> dict[str, Any]:
        return {"scale": model.scale, "shape": model.X.shape}


class Rounds(Describes):
    def describe(self, model: FakeModel) -> dict[str, Any]:
        return {"scale": round(model.scale, 6)}


@dataclass(frozen=True)
class Resampling:
    """Honest: one observation in ten is left out by chance."""

    fixed: int | None = None

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> FakeModel:
        X, y = data.X, data.y
        keep = (rng if self.fixed is None else np.random.default_rng(self.fixed)).random(len(y)) > 0.1
        keep[0] = True
        return FakeModel(frozen(X[keep]), frozen(y[keep]), standardization(y)[1])

    def with_fixed_draws(self, seed: int) -> Self:
        return replace(self, fixed=seed)


class StillDraws(Resampling):
    def with_fixed_draws(self, seed: int) -> Self:
        return self


class OneSeed(Resampling):
    def with_fixed_draws(self, seed: int) -> Self:
        return replace(self, fixed=0)


class FixesItself(Resampling):
    def with_fixed_draws(self, seed: int) -> Self:
        object.__setattr__(self, "fixed", seed)
        return self


# Recipes that fail only at work


class FailsAtFour(Recipe):
    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        if len(y) == 4:
            raise RuntimeError("four is too few")
        return super().fit(Data(X, y), rng)


class FailsAtSeven(Recipe):
    """A study of the contract has five results, and two lies."""

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        if len(y) == 7:
            raise RuntimeError("seven is too many")
        return super().fit(Data(X, y), rng)


class CountsStudies(Recipe):
    """Remembers how often it saw five results; two studies that run in turn see a difference."""

    fits = 0

    def fit(self, data: Data, rng: Generator, previous: Model | None = None) -> Any:
        X, y = data.X, data.y
        self.fits += len(y) == 5
        return super().fit(Data(X, y if self.fits % 2 else y[::-1]), rng)


def gp(model: type[GPModel]) -> Recast:
    return Recast(model, FixedGP())


BROKEN: list[tuple[str, Surrogate]] = [
    *(
        ("a prediction has a mean and a std for every point", Recast(model))
        for model in (NoStd, MeanAlone, WrongShape, ScalarForOne, WholeNumbers)
    ),
    ("predictions are finite", Recast(NaNStd)),
    ("the std is above zero", Recast(ZeroStd)),
    ("the std is above zero", Recast(NegativeStd)),
    ("predicting twice gives the same bits", Recast(RandomPrediction)),
    ("predicting elsewhere does not change the model", Recast(MutatingPredict)),
    ("predict leaves its points as they were", Recast(MovesPoints)),
    ("a point is predicted alike alone and among others", Recast(CentersPoints)),
    ("no points get an empty prediction", Recast(WantsPoints)),
    ("fit leaves its data as they were", WritesToData()),
    ("fit leaves its data as they were", RefusesReadOnly()),
    ("later changes of the data do not reach the model", KeepsArrays()),
    ("the same generator gives the same model bit for bit", OwnGenerator()),
    ("the same generator gives the same model bit for bit", KeepsCount()),
    ("a later fit leaves earlier models as they were", IsItsModel()),
    ("any model may be a warm start", WantsItsOwn()),
    ("any model may be a warm start", TellsPrevious()),
    ("one observation is enough", WantsTwo()),
    ("constant values are no trouble", DividesByRange()),
    ("repeated points are no trouble", Singular()),
    ("the units of y do not matter", UnitScale()),
    ("the zero of y does not matter", Recast(ShrinksToZero)),
    ("recipe and model survive pickling bit for bit", Recast(HoldsLambda)),
    ("recipe and model survive pickling bit for bit", UnpicklableRecipe()),
    ("conditioning does not change the model", Recast(MutatingCondition)),
    ("conditioning does not change the model", Recast(SharesItsList)),
    ("conditioning leaves its arguments alone", Recast(WritesToLies)),
    ("conditioning leaves its arguments alone", Recast(KeepsLies)),
    ("a conditioned model can do what the first could", gp(Degrades)),
    ("conditioning on nothing changes nothing", Recast(WantsLies)),
    ("conditioning in two steps is conditioning at once", Recast(Restandardizes)),
    ("the order of lies does not matter", Recast(CountsRows)),
    ("the mean moves toward a lie", Recast(BelievesOtherwise)),
    ("the mean moves toward a lie", Recast(Deaf)),
    ("the units of lies do not matter", Recast(AddsUnits)),
    ("known points may be conditioned on again", Recast(RefusesRepeats)),
    ("known points may be conditioned on again", Recast(BlowsUp)),
    ("values that come with gradients are the predictions", gp(OtherValue)),
    ("values that come with gradients are the predictions", gp(FlatGradient)),
    *(
        ("gradients are the slopes of predict", gp(model))
        for model in (UnscaledGradient, HalfGradient, LastColumnGradient, OldGradient)
    ),
    ("gradients are finite at the data and the corners", gp(NaNGradient)),
    ("a joint prediction agrees with predict", gp(OtherVariance)),
    ("a covariance is symmetric", gp(Asymmetric)),
    ("a covariance has no negative eigenvalue", gp(Indefinite)),
    ("the same generator gives the same draws", gp(OwnDraws)),
    ("the same generator gives the same draws", gp(OneDraw)),
    ("draws have the moments that are predicted", gp(WideDraws)),
    ("draws have the moments that are predicted", gp(IndependentDraws)),
    ("draws at known and repeated points are finite", gp(SingularDraws)),
    ("noise makes draws no narrower", gp(NarrowNoise)),
    ("whether data are noisy is a bool", gp(SaysPerhaps)),
    ("lengthscales are positive and one for each column", gp(OneLengthscale)),
    ("lies leave lengthscales alone", gp(LearnsFromLies)),
    ("a description is plain json", DescribesArrays()),
    ("a description is plain json", DescribesTuples()),
    ("a restored model is the one described bit for bit", Rounds()),
    ("with fixed draws the generator does not matter", StillDraws()),
    ("the seed of fixed draws matters where the generator did", OneSeed()),
    ("fixing draws leaves the recipe as it was", FixesItself()),
    (
        f"with strategy {next(iter(STRATEGIES))} a study gets distinct points of its space, the same for the same seed",
        FailsAtFour(),
    ),
    ("a lie may reach the model by a new fit or not at all", FailsAtSeven()),
]

# What breaks these, one of the laws above sees first.
BROKEN_ELSEWHERE: list[tuple[str, Surrogate]] = [
    *(
        (f"with strategy {name} a study gets distinct points of its space, the same for the same seed", FailsAtFour())
        for name, strategy in STRATEGIES.items()
        if name != "fantasies" and needs_model(strategy)
    ),
    ("with strategy kb a study gets distinct points of its space, the same for the same seed", OwnGenerator()),
    ("a study goes on from its journal", CountsStudies()),
]


def name_of(value: object) -> str:
    return value.model.__name__ if isinstance(value, Recast) else "" if isinstance(value, str) else type(value).__name__


@each(("law", "surrogate"), BROKEN, ids=name_of)
def test_a_broken_surrogate_is_caught_by_the_law_that_it_breaks_and_by_none_before(
    law: str, surrogate: Surrogate
) -> None:
    with pytest.raises(ContractBroken) as caught:
        check_surrogate(surrogate)
    assert caught.value.law == law


@each(("law", "surrogate"), BROKEN_ELSEWHERE)
def test_a_broken_surrogate_is_caught_by_the_law_that_it_breaks(law: str, surrogate: Surrogate) -> None:
    (check,) = (check for check in surrogate_checks(surrogate) if str(check) == law)
    with pytest.raises(ContractBroken) as caught:
        check()
    assert caught.value.law == law


def test_every_law_has_a_surrogate_that_breaks_it() -> None:
    assert {law for law, _ in (*BROKEN, *BROKEN_ELSEWHERE)} == {law.text for law in LAWS}


@pytest.mark.parametrize("honest", [FixedGP(), Recipe(), Describes(), Resampling(), Recast(FakeModel)], ids=name_of)
def test_what_the_broken_ones_are_made_from_keeps_the_contract(honest: Surrogate) -> None:
    check_surrogate(honest)
