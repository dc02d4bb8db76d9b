"""A simulation that may crash: an exothermic reaction in a cooled tube, with limits on hot spot and conversion.

Along the tube, with the concentration C and the temperature T (first order, Arrhenius; plug flow; a cooled wall):

    v dC/dz = -k(T) C,    v dT/dz = 90 K L/mol k(T) C - (U / d) (T - T_wall)

Where the heat cannot leave fast enough, the temperature runs away: then the solver stops.
"""

from __future__ import annotations

import math
from typing import Any

from believer.cli.demos.demo import Demo
from believer.optimizer import Optimizer
from believer.space import Float, Space
from believer.study.goal import AtLeast, AtMost, Maximize

_STEPS, _LENGTH = 300, 2.0  # of the solver; m
_AT_400 = 0.2  # 1/s, the rate at 400 K
_BARRIER = 10_000.0  # K, activation energy over the gas constant
_HEAT = 90.0  # K L/mol, by complete reaction
_COOLING = 6e-3  # m/s, heat transfer over heat capacity, times 4
_RUNAWAY = 550.0  # K, where the model of the reaction ends
_MASS = 0.1  # kg/mol of product

SPACE = Space(
    {
        "feed": Float(20, 140, units="°C"),
        "wall": Float(20, 140, units="°C"),
        "concentration": Float(0.2, 3.0, units="mol/L"),
        "velocity": Float(0.02, 0.5, log=True, units="m/s"),
        "diameter": Float(10, 60, log=True, units="mm"),
    }
)


def simulate(params: dict[str, Any]) -> dict[str, float]:
    """Product in kg/h, the hottest place in °C and the conversion in %; RuntimeError where the solver stops."""
    start, fast, wide = params["concentration"], params["velocity"], 1e-3 * params["diameter"]
    wall, left, warm = params["wall"] + 273.15, start, params["feed"] + 273.15
    hottest, dz = warm, _LENGTH / _STEPS

    def slopes(c: float, t: float) -> tuple[float, float]:
        gone = _AT_400 * math.exp(_BARRIER * (1.0 / 400.0 - 1.0 / t)) * c
        return -gone / fast, (_HEAT * gone - _COOLING / wide * (t - wall)) / fast

    for step in range(_STEPS):
        dc, dt = slopes(left, warm)
        dc, dt = slopes(max(left + 0.5 * dz * dc, 0.0), warm + 0.5 * dz * dt)
        left, warm = max(left + dz * dc, 0.0), warm + dz * dt
        if not 200.0 < warm < _RUNAWAY:
            raise RuntimeError(f"the temperature ran away {_LENGTH * (step + 1) / _STEPS:.2f} m into the tube")
        hottest = max(hottest, warm)
    liters = 1000.0 * math.pi / 4.0 * wide**2 * fast
    return {
        "product": 3600.0 * liters * (start - left) * _MASS,
        "hot spot": hottest - 273.15,
        "conversion": 100.0 * (1.0 - left / start),
    }


def crashes(optimizer: Optimizer) -> str | None:
    """The number of simulations that crashed."""
    count = optimizer.counts.failed
    crashed = "No simulation" if count == 0 else f"{count} of {optimizer.counts.answered} simulations"
    learned = "; the model has learned where" if count else ""
    return f"{crashed} crashed{learned}. The best possible value is not known."


SIMULATION = Demo(
    name="simulation",
    title="a cooled tube reactor: a simulation that crashes, with limits on hot spot and conversion",
    story="An exothermic reaction in a cooled tube, simulated along its 2 m: temperatures, concentration, flow, size.\n"
    "Wanted: the most product, with a hot spot of at most 180 °C and a conversion of at least 90 %.\n"
    "Where the reaction runs away, the simulation crashes.",
    function=simulate,
    space=SPACE,
    goals={
        "product": Maximize(units="kg/h"),
        "hot spot": AtMost(180.0, units="°C"),
        "conversion": AtLeast(90.0, units="%"),
    },
    budget=64,
    seeds=5,
    ending=crashes,
    failures="learn",
)
