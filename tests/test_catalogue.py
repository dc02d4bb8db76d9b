"""A table of candidates as a space: every point is a row, each is suggested once, and a journal knows its table."""

from __future__ import annotations

import csv
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from each import each

import believer as bv
from believer.batch import STRATEGIES, picking
from believer.errors import InvalidInput, SpaceExhausted
from believer.maximize import objective as searched
from believer.numerics import backend
from believer.space.catalogue import Catalogue, distinct, keys_of

FEATURES = ["mass", "logp", "ring"]


def rows(n: int = 60, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        {
            "name": f"m{i}",
            "mass": float(rng.random()) * 300,
            "logp": int(rng.integers(-3, 6)),
            "ring": "abc"[int(rng.integers(3))],
            "note": None if i % 7 == 0 else f"batch {i}",
        }
        for i in range(n)
    ]


def value(params: dict[str, Any]) -> float:
    return float((params["mass"] / 300 - 0.4) ** 2 + 0.05 * (params["logp"] - 2) ** 2 + 0.2 * (params["ring"] == "a"))


def table(n: int = 60) -> bv.Space:
    return bv.Space.from_table(rows(n), FEATURES, id_column="name")


def as_csv(path: Path, given: list[dict[str, Any]]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*given[0]])
        writer.writeheader()
        writer.writerows(given)
    return path


def test_a_point_is_a_row_with_all_of_its_columns() -> None:
    space, known = table(), rows()
    assert space.names == ("name", "note", *FEATURES)
    assert (space.size, len(space), space.dim, space.groups) == (60, 3, 5, (0, 1, 2, 2, 2))
    X = space.encode(known)
    assert ((X >= 0.0) & (X <= 1.0)).all()
    assert space.decode(X) == known
    assert space.encode([{"name": "m7"}]).tolist() == X[7:8].tolist()
    assert space.check({name: known[3][name] for name in FEATURES}) == known[3]
    assert space.check({**known[3], "note": "another note"}) == known[3]
    assert pickle.loads(pickle.dumps(space)) == space
    assert "60 rows" in repr(space)


def test_sources_of_one_table_are_the_same_space(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    known = rows()
    columns = {name: [row[name] for row in known] for name in known[0]}
    path = as_csv(tmp_path / "known.csv", known)
    for source in (columns, pandas.DataFrame(columns), path, str(path)):
        other = bv.Space.from_table(source, FEATURES, id_column="name")
        assert other == table()
        np.testing.assert_array_equal(other.region().points(), table().region().points())
        assert other.decode(other.region().points())[5]["mass"] == known[5]["mass"]


def test_features_may_be_parameters_and_are_numbers_by_default() -> None:
    known = rows()
    assert bv.Space.from_table(known, id_column="name").table.features == ("mass", "logp")  # type: ignore[union-attr]
    ring = bv.Categorical({"a": 1.0, "b": 2.0, "c": 5.0})
    space = bv.Space.from_table(known, {"mass": bv.Float(1e-3, 1e3, log=True), "ring": ring, "logp": None})
    assert space.dim == 1 + 4 + 1
    assert space.decode(space.encode([known[4]]))[0]["mass"] == known[4]["mass"]


def test_decimal_commas_of_a_file_with_semicolons_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "german.csv"
    path.write_text("name;x;y;z\na;0,5;1;1,5\nb;-1,25;2;2.5\nc;7;3;3,5\n", encoding="utf-8")
    space = bv.Space.from_table(path, id_column="name")
    assert space.parameters["x"] == bv.Float(-1.25, 7)
    assert space.check({"name": "b"})["x"] == -1.25
    assert space.check({"name": "b"})["z"] == 2.5  # no cell with either mark can mean another number


@each(
    "text, row",
    [
        ("n;t\na;1.234\nb;2.345\nc;987,5\nd;12,5\n", 1),
        ("n;t\na;12,5\nb;1.234\n", 2),
        ("n;t;u\na;1.234;0,5\nb;2.345;12,5\n", 1),
        ("n;t\na;12\nb;1.234\n", 2),
        ('n,t,u,v\na,"1,234",0.5,"1,5"\nb,"2,345",1.5,"2,5"\n', 1),
    ],
)
def test_a_number_that_may_be_another_one_is_an_error_that_names_row_and_column(
    tmp_path: Path, text: str, row: int
) -> None:
    (tmp_path / "doubt.csv").write_text(text)
    for features in (["t"], {"t": bv.Float(0.0, 1e4)}):
        with pytest.raises(InvalidInput, match=rf"row {row}, 't' has '[12][.,]\d+' may be \d+ or [12]\.\d+; write"):
            bv.Space.from_table(tmp_path / "doubt.csv", features)
    names = bv.Categorical(["1.234", "2.345", "987,5", "12,5", "12", "1,234", "2,345"])
    assert len(bv.Space.from_table(tmp_path / "doubt.csv", {"t": names}).decode(np.eye(7))) == 7


@each(
    "text, values",
    [
        ("n;t\na;1.2345\nb;1.234\n", [1.2345, 1.234]),
        ("n;t;u\na;0.5;1,5\nb;1.234;2,5\n", [0.5, 1.234]),
        ("n;t\na;1,234\nb;2,345\n", [1.234, 2.345]),
        ("n;t\na;1.234,5\nb;987,5\n", [1234.5, 987.5]),
        ('n,t,u\na,"1,234",0.5\nb,"2,345",1.5\n', [1234.0, 2345.0]),
        ('n,t\n"1,2-diol",1.234\nb,2.345\n', [1.234, 2.345]),
    ],
)
def test_one_decimal_mark_in_a_column_says_what_its_numbers_are(tmp_path: Path, text: str, values: list[float]) -> None:
    (tmp_path / "clear.csv").write_text(text)
    space = bv.Space.from_table(tmp_path / "clear.csv", ["t"])
    assert [params["t"] for params in space.decode(space.encode([{"t": value} for value in values]))] == values


def test_a_text_for_a_number_among_numbers_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="mostly numbers, and '2,5' in row 2"):
        bv.Space.from_table({"x": [1.5, "2,5", 3.5]}, ["x"])


@each("encoding", ["utf-8", "utf-8-sig", "cp1252", "latin-1", "utf-16"])
def test_a_file_may_have_any_usual_encoding(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "stock.csv").write_bytes("Stoff;T in °C\nÄther;20,5\nWasser;80\n".encode(encoding))
    space = bv.Space.from_table(tmp_path / "stock.csv", id_column="Stoff")
    assert space.check({"Stoff": "Äther"}) == {"Stoff": "Äther", "T in °C": 20.5}
    (tmp_path / "stock.csv").write_bytes(bytes(1000))
    with pytest.raises(InvalidInput, match=r"stock\.csv is not a text"):
        bv.Space.from_table(tmp_path / "stock.csv")


PRICED = "n;t;price;lot;code;note\na;1;790,4;7;007;x\nb;2;800;8;12;\nc;3;12,5;;13;z\nd;4;1.200;9;14;w\n"


def test_numbers_of_a_file_are_numbers_also_where_no_feature_has_them(tmp_path: Path) -> None:
    path = tmp_path / "priced.csv"
    path.write_text(PRICED.replace("1.200", "1200"))
    space = bv.Space.from_table(path, ["t"], id_column="n")
    assert space.check({"t": 1}) == {"n": "a", "price": 790.4, "lot": 7, "code": "007", "note": "x", "t": 1}
    assert space.check({"n": "c"})["lot"] is None
    assert space.check({"n": "b", "price": "800", "lot": 8.0})["t"] == 2
    for fixed in ({"price": "790,4"}, {"price": 790.4}, {"lot": 7}, {"lot": "7"}):
        assert bv.Optimizer(space, seed=0).ask(fixed=fixed)[0].params["n"] == "a"
    path.write_text(PRICED)  # 1.200 may be 1200 or 1.2: no feature, no error, and no price
    assert bv.Space.from_table(path, ["t"], id_column="n").check({"n": "d"})["price"] == "1.200"


def test_a_column_that_is_no_feature_can_be_the_price_of_a_row(tmp_path: Path) -> None:
    path = tmp_path / "priced.csv"
    lines = [f"m{i};{i};{(i * 7) % 30},5;{'' if i == 3 else i}" for i in range(30)]
    path.write_text("\n".join(["n;t;price;lot", *lines]))
    opt = bv.Optimizer(bv.Space.from_table(path, ["t"], id_column="n"), n_init=4, seed=0)
    for _ in range(3):
        batch = opt.ask(4, max_cost=40, cost={"price": 1})
        assert sum(trial.params["price"] for trial in batch) <= 40
        opt.tell_many(batch, [(trial.params["t"] - 20) ** 2 for trial in batch])
    for name in ("lot", "n", "color"):
        with pytest.raises(InvalidInput, match=f"got '{name}'"):
            opt.ask(2, max_cost=40, cost={name: 1})


def test_choices_that_are_numbers_are_found_in_a_table_and_in_a_file(tmp_path: Path) -> None:
    known = [{"x": i / 7, "level": i % 3, "size": 0.5 * (i % 2)} for i in range(12)]
    kinds = {"x": None, "level": bv.Ordinal([0, 1, 2]), "size": bv.Categorical([0.0, 0.5])}
    for source in (known, as_csv(tmp_path / "levels.csv", known)):
        space = bv.Space.from_table(source, kinds)
        assert space.decode(space.encode(known)) == known


def test_rows_that_no_feature_tells_apart_are_one_point() -> None:
    known = [*rows(10), {**rows(10)[2], "name": "twin"}]
    with pytest.warns(UserWarning, match="1 of 11 rows have the features of an earlier row.*row 11 as 3"):
        space = bv.Space.from_table(known, FEATURES, id_column="name")
    assert space.size == 10
    assert space.check({"name": "twin"})["name"] == "m2"


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (7, {}, "a table must be the path"),
    ([], {}, "a table must be the path"),
    ({}, {}, "1 to"),
    ({"x": [1, 2], "y": [1]}, {}, "rows in every column"),
    ([{"x": 1}, {"y": 1}], {}, "the same columns"),
    ("no such file.csv", {}, "cannot be read"),
    ({"x": [1, None]}, {"features": ["x"]}, "row 2 has none in 'x'"),
    ({"x": [1.0, float("nan")]}, {"features": ["x"]}, "row 2 has none in 'x'"),
    ({"x": ["a", None]}, {"features": ["x"]}, "row 2 has none in 'x'"),
    ({"x": np.array([1.0, np.inf])}, {"features": ["x"]}, "row 2 has none in 'x'"),
    ({"x": [1, 1]}, {"features": ["x"]}, "must differ between rows"),
    ({"x": ["a", "b"]}, {}, "no column has numbers that differ"),
    ({"x": [1, 2]}, {"features": ["z"]}, "among x; got 'z'"),
    ({"x": [1, 2]}, {"features": "x"}, "names of columns"),
    ({"x": [1, 2]}, {"id_column": "z"}, "id_column must be one of x"),
    ({"x": [1, 2], "i": ["a", "a"]}, {"id_column": "i"}, "'a' is in rows 1 and 2"),
    ({"x": [1, 2], "i": ["a", None]}, {"id_column": "i"}, "row 2 has none in 'i'"),
    ({"x": [1, 2], "i": [[], {}]}, {}, "a cell must be"),
    ({"x": [1, 2], "i": [1j, 2j]}, {}, "as text, or leave it out"),
    ({"x": [1.0, "n/a", 3.0]}, {"features": ["x"]}, "mostly numbers, and 'n/a' in row 2"),
    ({"x": ["1", "2", "ND"]}, {"features": ["x"]}, "mostly numbers, and 'ND' in row 3"),
    ({"x": [1, 20]}, {"features": {"x": bv.Float(0, 10)}}, "within its bounds"),
    ({"x": ["a", "b"]}, {"features": {"x": bv.Categorical(["a"])}}, "row 2 .* one of"),
]


@each("source, more, text", BAD)
def test_a_bad_table_is_one_clear_error(source: Any, more: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        bv.Space.from_table(source, **more)


@each(
    "params, text",
    [
        ({"name": "m99"}, "no row of the table has name='m99'"),
        ({"mass": 3.0}, "missing: logp, ring"),
        ({"mass": 30.0, "logp": 1, "ring": "a"}, "nearest one is"),
        ({"name": "m1", "note": "wrong"}, "has note='batch 1'"),
        ({**rows()[3], "name": "m4"}, "is another row than"),
        ({"color": 1}, "must name columns"),
        ({}, "or the id 'name'"),
    ],
)
def test_what_is_no_row_cannot_be_observed(params: dict[str, Any], text: str) -> None:
    opt = bv.Optimizer(table(), seed=0)
    with pytest.raises(InvalidInput, match=text):
        opt.observe(params, 1.0)
    assert not opt.trials


def test_a_ragged_file_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text("a;b\n1;2\n3\n")
    with pytest.raises(InvalidInput, match=r"line 3 of .* has 1"):
        bv.Space.from_table(path)
    path.write_text("n,t,u\na,1,5,2,5\n")
    with pytest.raises(InvalidInput, match=r"line 2 of .* has 5 cells; 3 are named.* decimal commas"):
        bv.Space.from_table(path)


@each("strategy", [*STRATEGIES], ids=str)
def test_every_strategy_suggests_rows_each_once_until_none_is_left(strategy: str) -> None:
    known = {row["name"]: row for row in rows(24)}
    opt = bv.Optimizer(table(24), strategy=strategy, n_init=6, seed=0)
    seen = []
    for q in (6, 4, 4):
        for trial in opt.ask(q):
            assert trial.params == known[trial.params["name"]]
            seen.append(trial.params["name"])
            opt.tell(trial, value(trial.params))
    assert len({*seen}) == len(seen)
    rest = opt.ask(10)
    assert {*seen, *(trial.params["name"] for trial in rest)} == known.keys()
    with pytest.raises(SpaceExhausted):
        opt.ask(1)


@each("name", ["python", "native"])
def test_q_asks_of_one_choose_what_one_ask_of_q_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "native" and backend.name() != "native":
        pytest.skip("not compiled")
    for long in (False, True):
        if long:  # as a table of more than 4,096 rows is searched
            monkeypatch.setattr(picking, "ENUMERATE_UP_TO", 8)
            monkeypatch.setattr(picking, "MOST_ROWS", 20)
            monkeypatch.setattr(picking, "_NUMBERS", 8)
            monkeypatch.setattr(searched, "ENUMERATE_UP_TO", 8)
        with backend.using(name):
            one, four = (bv.Optimizer(table(), n_init=5, seed=3) for _ in range(2))
            for opt in (one, four):
                for trial in opt.ask(6):
                    opt.tell(trial, value(trial.params))
            assert [one.ask(1)[0].params for _ in range(5)] == [trial.params for trial in four.ask(5)]


@each("strategy", ["kb", "cl_min", "cl_max", "kb_lower"])
def test_the_best_rows_of_a_long_table_are_chosen_as_if_all_were_kept(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chosen() -> tuple[list[str], list[str]]:
        opt = bv.Optimizer(table(), strategy=strategy, n_init=8, seed=1)
        for trial in opt.ask(8):
            opt.tell(trial, value(trial.params))
        batch = opt.ask(6)
        return [trial.params["name"] for trial in batch], [trial.provenance for trial in batch]

    wanted, _ = chosen()
    for most in (8, 16):
        with monkeypatch.context() as patch:
            patch.setattr(searched, "ENUMERATE_UP_TO", 4)
            patch.setattr(picking, "ENUMERATE_UP_TO", 4)
            patch.setattr(picking, "MOST_ROWS", most)
            patch.setattr(picking, "_NUMBERS", 1)
            found, said = chosen()
        if strategy == "kb":
            assert found == wanted
        assert any("points that were best before" in one for one in said) == (strategy != "kb")


def long_batch(patch: pytest.MonkeyPatch, most: int, limited: bool = False, **options: Any) -> list[str]:
    """The provenance of a batch from a long table, of which the ``most`` best rows are kept."""
    patch.setattr(searched, "ENUMERATE_UP_TO", 4)
    patch.setattr(picking, "ENUMERATE_UP_TO", 4)
    patch.setattr(picking, "MOST_ROWS", most)
    patch.setattr(picking, "_NUMBERS", 10_000)
    goals: dict[str, Any] = {"outcomes": {"y": bv.Minimize(), "w": bv.AtMost(0.5)}} if limited else {}
    opt = bv.Optimizer(table(), n_init=8, seed=1, **goals, **options)
    for trial in opt.ask(8):
        y = value(trial.params)
        opt.tell(trial, {"y": y, "w": trial.params["logp"] / 5} if limited else y)
    return [trial.provenance for trial in opt.ask(6)]


@each("strategy", ["kb", "hedged"])
def test_the_provenance_says_if_a_row_that_was_not_compared_may_be_better(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may with several outputs. One alone is exact, and a table of which every row is kept has no other rows."""
    said = "among the 16 points that were best before"
    assert said in long_batch(monkeypatch, 16, limited=True, strategy=strategy)[-1]
    for most, limited in ((16, False), (60, True)):
        assert not any("best before" in one for one in long_batch(monkeypatch, most, limited, strategy=strategy))


def test_so_it_does_where_a_copy_under_shorter_lengthscales_chose_among_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No column of the library's own tables is free to be hedged; one of another list of points may be."""
    monkeypatch.setattr(Catalogue, "metric", property(lambda self: np.ones(self.dim, dtype=bool)))
    said = long_batch(monkeypatch, 30)
    assert ["best before" in one for one in said] == ["under lengthscales" in one for one in said]
    assert {"under lengthscales" in one for one in said} == {True, False}


def test_values_can_be_held_fixed_in_any_column() -> None:
    opt = bv.Optimizer(table(), n_init=4, seed=0)
    for trial in opt.ask(4, fixed={"ring": "b"}):
        assert trial.params["ring"] == "b"
        opt.tell(trial, value(trial.params))
    assert {trial.params["ring"] for trial in opt.ask(3, fixed={"ring": "c"})} == {"c"}
    assert opt.ask(1, fixed={"note": "batch 8"})[0].params["name"] == "m8"
    for fixed in ({"ring": "z"}, {"note": "no such"}, {"mass": 1.0}, {"x": 1}):
        with pytest.raises(InvalidInput):
            opt.ask(1, fixed=fixed)
    with pytest.raises(InvalidInput, match=r"got 'rings'\. Did you mean 'ring'"):
        opt.ask(1, fixed={"rings": "b"})
    with pytest.raises(SpaceExhausted):
        opt.ask(2, fixed={"name": "m8"})


def test_a_journal_knows_its_table(tmp_path: Path) -> None:
    path, file = tmp_path / "study.jsonl", as_csv(tmp_path / "table.csv", rows())

    def space() -> bv.Space:
        return bv.Space.from_table(file, FEATURES, id_column="name")

    with bv.Optimizer.open(path, space(), n_init=4, seed=1) as opt:
        for trial in opt.ask(6):
            opt.tell(trial, value(trial.params))
        opt.observe({"name": "m11"}, 0.5)
        opt.enqueue({"name": "m12"})
        waiting = opt.ask(3)
    assert waiting[0].params["name"] == "m12"
    assert bv.replay(path, table=file).identical
    with bv.Optimizer.load(path, table=file) as again:
        assert [trial.params for trial in again.pending] == [trial.params for trial in waiting]
        again.tell({"name": waiting[1].params["name"]}, 0.7)
        with pytest.raises(InvalidInput, match="no row"):
            again.tell({"name": "m1000"}, 1.0)
    with pytest.raises(InvalidInput, match=r"table of 60 rows\. Pass it as table"):
        bv.Optimizer.load(path)
    assert bv.read_study(path).best is not None
    # A column that is no feature may change; one that is makes another table of it.
    known = rows()
    as_csv(file, [{**row, "price": 3} for row in known])
    with bv.Optimizer.open(path, space()) as same:
        assert "price" not in same.ask(2)[0].params
    assert bv.replay(path, table=file).identical
    as_csv(file, [{**row, "mass": row["mass"] + (row["name"] == "m3")} for row in known])
    with pytest.raises(InvalidInput, match="not the one that the journal was written with"):
        bv.Optimizer.load(path, table=file)
    with pytest.raises(InvalidInput, match=r"table: 60 rows .* now 60 rows"):
        bv.Optimizer.open(path, space())
    as_csv(file, [*known, *({**row, "name": f"new {row['name']}"} for row in rows(30, 1))])
    with bv.Optimizer.open(path, space(), change=True) as wider:
        assert len(wider.outcomes) == 8
        assert not wider.outside
        names = {trial.params["name"] for trial in wider.ask(20)}
    assert any(name.startswith("new") for name in names)
    bv.Optimizer(bv.Space.cube(2), journal=tmp_path / "plain.jsonl").close()
    with pytest.raises(InvalidInput, match="leave table= out"):
        bv.Optimizer.load(tmp_path / "plain.jsonl", table=file)


def test_limits_several_objectives_and_failures_work(tmp_path: Path) -> None:
    opt = bv.Optimizer(
        table(), outcomes={"y": bv.Minimize(), "z": bv.Maximize(), "w": bv.AtMost(0.5)}, n_init=6, seed=0
    )
    for trial in opt.ask(8):
        opt.tell(trial, {"y": value(trial.params), "z": trial.params["mass"], "w": trial.params["logp"] / 5})
    opt.tell(opt.ask(1)[0], error="no powder left")
    assert len({trial.params["name"] for trial in opt.ask(4)}) == 4
    opt.to_csv(tmp_path / "study.csv")
    assert "m" in (tmp_path / "study.csv").read_text()


def test_figures_and_pages_are_made(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    opt = bv.Optimizer(table(), n_init=6, journal=tmp_path / "study.jsonl", seed=0)
    for trial in opt.ask(10):
        opt.tell(trial, value(trial.params))
    plot = bv.plot
    for draw in (plot.importance, plot.convergence, plot.slice, plot.parallel_coordinates, plot.evaluations):
        draw(opt)
    opt.report(tmp_path / "page.html")
    opt.close()
    assert "m" in (tmp_path / "page.html").read_text(encoding="utf-8")
    bv.plot.convergence(tmp_path / "study.jsonl")


def test_keys_find_rows_whatever_their_bits() -> None:
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 9)] * 4), -1).reshape(-1, 4)
    X = np.unique(np.vstack([grid, rng.integers(0, 2, (100, 4)), rng.random((1000, 4))]), axis=0)
    assert len({*keys_of(X).tolist()}) == len(X)
    assert keys_of(np.array([[0.0]])) == keys_of(np.array([[-0.0]]))
    kept, _, earlier = distinct(np.vstack([X[:50], X[:10]]))
    assert kept.tolist() == [*range(50)]
    assert earlier[50:].tolist() == [*range(10)]
    region = Catalogue(X, keys_of(X))
    order = rng.permutation(len(X))
    assert region.places(X[order]).tolist() == order.tolist()
    assert not region.holds(X[:5] + 1e-9).any()
    np.testing.assert_array_equal(region.project(X[:5] + 1e-9), X[:5])
    assert region.among(X, X[order[:7]]).sum() == 7
    assert region.among(X[:9], X[3:5]).tolist() == [i in (3, 4) for i in range(9)]
    for drawn in (region.sample(50, rng), region.near(X[:3], 10, (0.1,), rng), region.spread(rng.random((40, 4)))):
        assert region.holds(drawn).all()


@pytest.mark.slow  # 160 MB of numbers
def test_a_million_rows_are_searched_within_bounded_memory() -> None:
    import resource

    Z = np.random.default_rng(0).random((1_000_000, 20))
    space = bv.Space.from_table({f"f{j}": Z[:, j] for j in range(20)})
    opt = bv.Optimizer(space, seed=0)
    for i in range(60):
        opt.observe(space.decode(space.region().points()[i : i + 1])[0], float(((Z[i] - 0.4) ** 2).sum()))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len({tuple(trial.params.values()) for trial in opt.ask(8)}) == 8
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 700_000


def test_a_journal_in_which_prices_were_texts_goes_on_with_numbers(tmp_path: Path) -> None:
    path, file = tmp_path / "study.jsonl", tmp_path / "priced.csv"
    lines = [f"m{i};{i};{(i * 7) % 30},5" for i in range(30)]
    file.write_text("\n".join(["n;t;price", *lines]))
    texts = [dict(zip(("n", "t", "price"), line.split(";"), strict=True)) for line in lines]
    known = [{**row, "t": int(row["t"])} for row in texts]  # as files were read before
    with bv.Optimizer.open(path, bv.Space.from_table(known, ["t"], id_column="n"), n_init=3, seed=0) as opt:
        opt.enqueue({"n": "m3"})
        opt.observe({"n": "m4", "price": "28,5"}, 3.0)
        for trial in [*opt.ask(2), *opt.ask(1, fixed={"price": "0,5"})]:
            opt.tell(trial, float(trial.params["t"]))
        (waiting,) = opt.ask(1)
    with bv.Optimizer.load(path, table=file) as again:
        assert again.pending[0].params == {**waiting.params, "price": float(waiting.params["price"].replace(",", "."))}
        again.tell(again.pending[0], 1.0)
        again.ask(2, max_cost=30, cost={"price": 1})
    assert bv.replay(path, table=file).identical
