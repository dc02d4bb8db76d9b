"""Two objectives and a limit: the cheapest and strongest parts, among those that do not bend too far."""

import believer as bv

SPACE = bv.Space(
    {
        "width": bv.Float(20, 150, units="mm"),
        "height": bv.Float(20, 150, units="mm"),
        "material": bv.Categorical(["steel", "aluminium"]),
    }
)
GOALS = {
    "mass": bv.Minimize(units="kg"),
    "safety": bv.Maximize(),  # strength over stress
    "bend": bv.AtMost(25, units="mm"),
}


def beam(params):
    """A beam of two meters that carries 9 kN at its end; stands in for a simulation."""
    density, strength, stiffness = {"steel": (7850, 250, 210e3), "aluminium": (2700, 110, 70e3)}[params["material"]]
    width, height, length, load = params["width"], params["height"], 2000, 9000
    stress = 6 * load * length / (width * height**2)
    bend = 4 * load * length**3 / (stiffness * width * height**3)
    if bend > length:
        raise RuntimeError("the solver did not converge")
    return {"mass": density * width * height * length * 1e-9, "safety": strength / stress, "bend": bend}


def main():
    result = bv.minimize(beam, SPACE, budget=24, q=4, outcomes=GOALS, seed=0, progress=False)
    front = sorted(result.front, key=lambda point: point.values["mass"])
    print("Nothing that was tried is better than these in both mass and safety, within the limit:")
    for point in front:
        size = f"{point.params['width']:.0f} x {point.params['height']:.0f} mm {point.params['material']}"
        print(f"  {size:<24} {point.values['mass']:6.1f} kg  safety {point.values['safety']:.2f}")

    # One objective within limits has a single best point.
    lightest = {"mass": bv.Minimize(units="kg"), "safety": bv.AtLeast(1.5), "bend": bv.AtMost(25, units="mm")}
    result = bv.minimize(beam, SPACE, budget=32, q=4, outcomes=lightest, seed=0, progress=False)
    print(f"The lightest with a safety of at least 1.5: {result.value:.1f} kg, {result.params}")


if __name__ == "__main__":
    main()
