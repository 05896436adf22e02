"""The board of a study: the scatter of both parts of the abstention gap, and its table."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import cli
from sayso.protocols import selective
from sayso.protocols.selective.board import HEIGHT, LINE, BoardSystem, board_chart, place_names
from sayso.records import Estimate, InputError
from sayso.report.figures import Figure, figure_of
from sayso.studies.grid import About, read_grid
from sayso.studies.report import write_study
from sayso.studies.results import of_folders, of_grid
from sayso.studies.run import run_grid
from support.scripted import ScriptedEngine

HOSTILE = "</script><script>alert(1)</script>\x1b[31m=cmd|' /C calc'!A0\u202e"


def system(name: str, without: float, with_one: float, label: str = "") -> BoardSystem:
    shares = (Estimate("share", value=value) for value in (without, with_one))
    return BoardSystem(name, *shares, label)


def figure(systems: list[BoardSystem]) -> Figure:
    chart = board_chart(systems)
    assert chart is not None
    found = figure_of("board", chart, "a board")
    assert found is not None
    return found


def names(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_the_figure_names_the_systems_that_have_a_label() -> None:
    draw = random.Random(0)
    many = [
        system(f"s{n}", 1 - 0.7 * draw.random(), 0.3 * draw.random(), "GPT" * (n < 3))
        for n in range(60)
    ]
    many[1] = many[1]._replace(label="<b>Llama</b> & co")
    none = Estimate("share", problem="none")
    drawn = figure([*many, BoardSystem("mute", none, none)])
    shown = names(drawn.render("svg").decode())
    assert shown.count("GPT") == 2
    assert "&lt;b&gt;Llama&lt;/b&gt; &amp; co" in shown
    assert "s5" not in shown


def test_few_systems_are_all_named() -> None:
    three = [system("careless", 0.5, 0.02), system("careful", 0.9, 0.25), system("blind", 0.3, 0.3)]
    assert {"careless", "careful", "blind"} <= set(names(figure(three).render("svg").decode()))


def test_systems_without_both_numbers_have_no_dot() -> None:
    none = Estimate("share", problem="none")
    assert board_chart([]) is None
    assert board_chart([BoardSystem("mute", none, Estimate("share", value=0.2))]) is None


@pytest.mark.parametrize("place", [(1.0, 0.0), (0.0, 1.0), (0.5, 0.0)])
def test_a_corner_is_drawn(place: tuple[float, float]) -> None:
    assert figure([system("alone", *place)]).render("svg")


def test_names_lie_over_no_other_name_and_inside_the_field() -> None:
    draw = random.Random(1)
    dots = [{"x": draw.random(), "y": draw.random(), "text": f"system {n}"} for n in range(15)]
    placed = place_names(dots, (300, HEIGHT), 300)
    assert len(placed) > 10
    boxes = []
    for name in placed:
        side = -1 if name["left"] else 1
        near = 300 * name["x"] + 9 * side
        boxes.append((*sorted((near, near + side * 6.7 * len(name["text"]))), HEIGHT * name["y"]))
    for n, (left, right, y) in enumerate(boxes):
        assert 0 <= left < right <= 300
        for other in boxes[n + 1 :]:
            assert right <= other[0] or other[1] <= left or abs(y - other[2]) >= LINE
    # with room enough it stands at the right of its dot, and with another dot there at the left
    alone, beside = ({"x": x, "y": 0.5, "text": "alone"} for x in (0.5, 0.55))
    assert [name["left"] for name in place_names([alone], (300, HEIGHT), 300)] == [False]
    assert place_names([alone, beside], (300, HEIGHT), 300)[0]["left"]


#: systems that abstain at two rates, on questions without an answer and with one
RATES = {"alpha": (3, 0), "beta": (3, 3), HOSTILE: (1, 0)}


def study(folder: Path) -> dict:
    rows = [
        {"question": f"What is {kind} {n}?", "entity": f"d{n % 3}", "answerable": kind == "fact",
         **({"gold": f"V{n}"} if kind == "fact" else {})}
        for kind in ("fact", "dream")
        for n in range(4)
    ]  # fmt: skip
    place = folder / "t.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def engine(name: str, none: int, one: int) -> ScriptedEngine:
        def says(request: object) -> str:
            text = request.messages[-1].content  # type: ignore[attr-defined]
            number = int(re.findall(r"\d", text)[0])
            return "N/A" if number < (none if "dream" in text else one) else "Something"

        return ScriptedEngine(says, name=f"m{none}{one}")

    abouts = [
        {"group": "family", "thinking": True, "date": "2025-01", "label": "Alpha"},
        {"group": "family", "thinking": False, "date": "2025-01"},
        {"date": 2024},
    ]
    return {
        "out": str(folder / "s"),
        "cache": str(folder / "c"),
        "models": [
            {"model": engine(name, *rates), "name": line_of(name), **about}
            for (name, rates), about in zip(RATES.items(), abouts, strict=True)
        ],
        "data": [{"data": f"file:{place}", "name": "t"}],
        "protocols": [
            {"selective": {"draws": {"k": 0}, "known_k": 0, "words": False, "resamples": 100}}
        ],
    }


def line_of(name: str) -> str:
    return name if name in ("alpha", "beta") else "</script><script>alert(1)"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    grid = read_grid(study(folder))
    found = of_grid(grid, run_grid(grid), resamples=100, allow=("thinking",))
    write_study(found, grid.out, ("board",))
    return grid.out


def test_a_study_shows_its_board(made: Path) -> None:
    page = (made / "index.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "What many systems invent" in page
    assert (made / "tables" / "board.csv").is_file()


def test_labels_of_the_file_are_kept_with_the_study(made: Path, tmp_path: Path) -> None:
    assert of_folders([made]).systems["alpha"] == About("Alpha")
    options: dict[str, Any] = {"resamples": 100, "allow": "thinking"}
    sayso.study(made, out=tmp_path / "o", layout="board", **options)
    assert "Alpha" in (tmp_path / "o" / "index.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="pass out, the folder for them"):
        sayso.study(made, layout=["board"], **options)
    with pytest.raises(InputError, match=r"layout 'bord' is unknown; expected .*board"):
        sayso.study(made, out=tmp_path / "p", layout="bord", **options)


def test_a_study_writes_its_figures(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "o"
    shared = [
        "study",
        str(made),
        "--out",
        str(out),
        "--set",
        "resamples=100",
        "--allow",
        "thinking",
    ]
    figures = ["--layout", "board", "--figures", "svg,json", "--set", "figure_width=8.4cm"]
    assert cli.execute([*shared, *figures]) == 0
    told = capsys.readouterr().err
    names = sorted(file.name for file in (out / "figures").iterdir())
    assert {"board.svg", "board.json"} <= set(names)
    assert f"figures (json, svg) in {out / 'figures'}" in told.replace("svg, json", "json, svg")
    assert 'width="238.11pt"' in (out / "figures" / "board.svg").read_text()
    assert cli.execute([*shared, "--figures", "gif"]) == 2
    assert "--figures gif: expected a format of figures" in capsys.readouterr().err


def test_settings_for_thinking_still_reach_the_model(tmp_path: Path) -> None:
    grid = read_grid(study(tmp_path))
    assert [cell.job.thinking for cell in grid.cells] == ["on", "off", ""]
    assert isinstance(grid.cells[0].job.options, selective.Settings)


def test_a_list_of_levels_of_thinking_makes_a_row_of_each(tmp_path: Path) -> None:
    """Rows of one model are compared without being allowed to, and share the first one's probes."""
    spec = {**study(tmp_path), "thinking": [False, "low", 512]}
    spec["models"] = [{**spec["models"][0], "name": "m", "thinking": [False, "low"]},
                      *spec["models"][1:2], {**spec["models"][2], "thinking": True}]  # fmt: skip
    spec["models"][1].pop("thinking")
    grid = read_grid(spec)
    told = {cell.model: cell.job.thinking for cell in grid.cells}
    other = "beta · thinking"
    assert {name: level for name, level in told.items() if "script" not in name} == {
        "m · thinking off": "off", "m · thinking low": "low",
        f"{other} off": "off", f"{other} low": "low", f"{other} 512": "512",
    }  # fmt: skip
    assert "on" in told.values()
    found = of_grid(grid, run_grid(grid), resamples=100)
    assert not [o.reason for o in found.outcomes if o.reason]
    assert found.numbers("selective")
    grid = read_grid({**spec, "protocols": ["uncle"]})
    known = grid.cells
    assert [c.job.options.known_from for c in known if c.model.startswith("m ·")] == [
        "self", str(known[0].path),
    ]  # fmt: skip
    notes = of_grid(grid, run_grid(grid), resamples=100).notes("uncle")
    assert any("m · thinking low is judged by the facts that m · thinking off" in n for n in notes)
    spec["models"][0]["thinking"] = ["low", "low"]
    with pytest.raises(InputError, match="two levels of thinking"):
        read_grid(spec)
