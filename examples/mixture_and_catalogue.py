"""A mixture whose parts add up to one hundred, of at most three ingredients, and a resin from a catalogue."""

import believer as bv

VISCOSITY = {"A-100": 3.2, "A-120": 4.1, "B-7": 1.8, "B-9": 2.6, "C-55": 5.0, "C-60": 5.9}  # in Pa s, by the catalogue
RESINS = {name: {"viscosity": value} for name, value in VISCOSITY.items()}  # so that alike resins inform each other
PARTS = ["filler", "fibre", "rubber", "wax", "pigment"]
SPACE = bv.Space(
    {
        "resin": bv.Categorical(RESINS),
        "binder": bv.Float(40, 80, step=1, units="%"),
        **{part: bv.Float(0, 40, step=1, units="%") for part in PARTS},
        "cure": bv.Float(60, 180, step=5, units="°C"),
    },
    rules=[
        bv.sum_to(["binder", *PARTS], 100),
        bv.max_parts(PARTS, 3),
        bv.linear({"fibre": 1, "filler": 1}, at_most=45),  # more than that cannot be stirred
    ],
)


def toughness(params):
    """Stands in for an afternoon of mixing, curing and breaking."""
    value = 60 - 0.05 * (params["binder"] - 58) ** 2 - 3 * (VISCOSITY[params["resin"]] - 2.4) ** 2
    value += (
        0.8 * params["fibre"] - 0.016 * params["fibre"] ** 2 + 0.6 * params["rubber"] - 0.03 * params["rubber"] ** 2
    )
    return value - 0.2 * params["wax"] - 0.004 * (params["cure"] - 130) ** 2


def main():
    mixture()
    catalogue()


def mixture():
    study = bv.Optimizer(SPACE, outcomes={"toughness": bv.Maximize(units="MPa")}, seed=0)
    for batch in range(1, 7):
        for trial in study.ask(6):
            study.tell(trial, toughness(trial.params))
        print(f"after {6 * batch:>2} mixtures: best {study.best[1]:.1f} MPa")
    recipe = {name: value for name, value in study.best[0].items() if value}
    print("what the model uses of a resin:", {k: f"{v:.0%}" for k, v in study.descriptor_shares()["resin"].items()})
    print("best recipe:", recipe, "sum:", sum(value for name, value in recipe.items() if name in ["binder", *PARTS]))


def catalogue():
    """The experiments are given: every suggestion is a row of the table, by its name."""
    stock = [{"name": f"foil {i}", "gauge": 0.1 + 0.05 * (i % 20), "temper": i // 20} for i in range(100)]
    foils = bv.Space.from_table(stock, features=["gauge", "temper"], id_column="name")
    study = bv.Optimizer(foils, maximize=True, n_init=6, seed=0)
    for _ in range(4):
        for trial in study.ask(4):
            study.tell(trial, 50 - 40 * (trial.params["gauge"] - 0.6) ** 2 - (trial.params["temper"] - 3) ** 2)
    print(f"best of 16 foils from {len(stock)}: {study.best[0]['name']} with {study.best[1]:.1f} MPa")


if __name__ == "__main__":
    main()
