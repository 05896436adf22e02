"""The board: its order, its plots, what the file says of systems, hostile names, and its script."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sayso
from sayso import cli
from sayso.engines.scripted import ScriptedEngine
from sayso.protocols import selective
from sayso.records import Estimate, InputError
from sayso.studies.board import (
    About,
    BoardSystem,
    board_figure,
    board_opening,
    board_page,
    check_date,
    joined,
    place_labels,
    year_number,
)
from sayso.studies.grid import read_grid
from sayso.studies.report import board_place, write_board, write_study
from sayso.studies.results import of_folders, of_grid
from sayso.studies.run import run_grid

HEADS = ("G", "abstains where there is no answer", "abstains where there is one")
HOSTILE = "</script><script>alert(1)</script>\x1b[31m=cmd|' /C calc'!A0\u202e"


def share(name: str, value: float, n: int) -> Estimate:
    return Estimate(name, value=value, low=max(0, value - 0.05), high=min(1, value + 0.05), n=n)


def system(name: str, without: float, with_one: float, about: About | None = None) -> BoardSystem:
    gap = without - with_one
    return BoardSystem(
        name,
        Estimate("abstention_gap", value=gap, low=gap - 0.07, high=gap + 0.07, n=300),
        share("none", without, 100),
        share("one", with_one, 200),
        (1, 3),
        about or About(),
    )


THREE = [
    system("careless", 0.5, 0.02),
    system("careful", 0.9, 0.25),
    system("blind", 0.3, 0.3),
]


def names(page: str) -> list[str]:
    return re.findall(r'class="pick" aria-pressed="false">([^<]*)<', page)


def test_systems_stand_in_the_order_of_their_gaps_with_their_ranks() -> None:
    page = board_page(THREE, "A board", HEADS)
    assert names(page) == ["careful", "careless", "blind"]
    assert page.count(">1–3<") == 3
    assert "<td>+0.65<small>[+0.58, +0.72]</small></td>" in page
    assert "100 unanswerable and 200 answerable questions" in page
    assert 'data-without="0.90000" data-with="0.25000"' in page


def test_the_first_sentence_names_who_leads_alone_and_counts_who_share_the_lead() -> None:
    alone = [one._replace(rank=(n, n)) for n, one in enumerate((THREE[1], THREE[0], THREE[2]), 1)]
    assert board_opening(alone) == (
        "Of 3 systems, careful is best at declining only what cannot be answered: it declined 90 % "
        "of the questions that cannot be answered and 25 % of those that can."
    )
    assert board_opening(THREE).startswith(
        "No difference between the 3 systems is visible in declining only what cannot be answered; "
        "careful, with the largest gap, declined 90 %"
    )
    two = [one._replace(rank=r) for one, r in zip(THREE, ((1, 2), (1, 2), (3, 3)), strict=True)]
    assert board_opening(two).startswith("Of 3 systems, 2 share the lead in declining only what")
    unranked = [one._replace(rank=None) for one in THREE]
    assert "no system can be ranked first" in board_opening(unranked)
    assert board_opening(THREE[:1]).startswith("careless declined 50 % of the questions that")
    none = Estimate("abstention_gap", problem="no answers")
    assert "No system answered" in board_opening([BoardSystem("mute", none, none, none)])
    page = board_page(THREE, "A board", HEADS)
    assert page.index("No difference between") < page.index("<svg")


@pytest.mark.parametrize(("without", "with_one"), [(1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (0.5, 0.5)])
def test_one_system_alone_and_on_the_edge_is_drawn(without: float, with_one: float) -> None:
    gap = Estimate("abstention_gap", value=without - with_one, n=3)
    exact = (Estimate("p", value=value, n=3) for value in (without, with_one))
    page = board_page(
        [BoardSystem("only", gap, *exact, about=About(date="2024"))], "A board", HEADS
    )
    assert not re.search(r"\bnan\b", page.lower())
    assert page.count('class="dot') == 2


def field_of(page: str, view: str) -> tuple[list[tuple[float, float]], ...]:
    """Return the ticks of both axes of the first plot, each with its share and its place."""
    plot = page.split(f'class="chart plot {view}"')[1].split("</svg>")[0]
    across = re.findall(r'd="M([\d.]+) [\d.]+V[^>]*/><text class="tick"[^>]*>(\d+) %', plot)
    up = re.findall(r'd="M[\d.]+ ([\d.]+)H[^>]*/><text class="tick"[^>]*>(\d+) %', plot)
    return tuple([(float(share), float(at)) for at, share in ticks] for ticks in (across, up))


@pytest.mark.parametrize("view", ["wide", "narrow"])
@pytest.mark.parametrize("invents", [(0.05, 0.9), (0.05, 0.2), (0.6, 0.7)])
@pytest.mark.parametrize("misses", [(0.01, 0.3), (0.02, 0.05), (0.5, 0.98)])
def test_a_point_is_as_long_on_both_axes(
    view: str, invents: tuple[float, float], misses: tuple[float, float]
) -> None:
    both = [system(str(n), 1 - x, y) for n, (x, y) in enumerate(zip(invents, misses, strict=True))]
    page = board_page(both, "A board", HEADS)
    lengths = []
    for ticks in field_of(page, view):
        (first, start), *_, (last, end) = ticks
        lengths.append(abs(end - start) / (last - first))
    assert lengths[0] == pytest.approx(lengths[1], rel=0.01)


def test_the_plot_shows_what_is_invented_against_what_is_missed() -> None:
    page = board_page(THREE, "A board", HEADS)
    plot = page.split('class="chart plot wide"')[1].split("</svg>")[0]
    (careful,) = re.findall(r'data-system="0">.*?cx="([\d.]+)" cy="([\d.]+)"', plot)
    ticks = [dict(axis) for axis in field_of(page, "wide")]
    # careful abstains from .9 of those without an answer and .25 of the others
    assert float(careful[0]) == pytest.approx(ticks[0][10], abs=0.2)
    assert ticks[1][30] < float(careful[1]) < ticks[1][20]
    assert "unanswerable questions answered with something invented" in plot
    # one that declines both kinds alike lies on the line, which is named
    assert "declines both kinds alike (G = 0)" in plot


def test_the_caption_explains_only_marks_that_are_there() -> None:
    def caption(*thinking: str) -> str:
        some = [system(str(n), 0.9, 0.1, About(thinking=t)) for n, t in enumerate(thinking)]
        page = board_page(some, "A board", HEADS)
        return page.split("<figcaption>")[1].split("</figcaption>")[0]

    assert "◆" not in caption("", "")
    assert re.findall("[◆○●]", caption("on", "")) == ["◆", "●"]
    assert re.findall("[◆○●]", caption("on", "off")) == ["◆", "○"]


def test_a_plot_cut_out_of_the_page_has_colors_and_hides_what_the_page_hides() -> None:
    plot = board_page(THREE, "A board", HEADS).split("<svg")[1].split("</svg>")[0]
    assert "var(" not in plot
    assert 'xmlns="http://www.w3.org/2000/svg"' in plot
    for kind, shown in (("cross", 'visibility="hidden"'), ("grid", 'stroke="#dddddd"')):
        assert shown in re.findall(f'<path class="{kind}"[^>]*>', plot)[0]
    assert plot.count('class="mark" fill="#0072b2"') == 3


def test_the_figure_names_the_systems_that_have_a_label() -> None:
    draw = random.Random(0)
    many = [
        system(f"s{n}", 1 - 0.7 * draw.random(), 0.3 * draw.random(), About(label="GPT" * (n < 3)))
        for n in range(60)
    ]
    many[1] = many[1]._replace(about=About(label="<b>Llama</b> & co"))
    figure = board_figure([*many, BoardSystem("mute", *[Estimate("x", problem="none")] * 3)])
    assert figure is not None
    assert figure.label.startswith("60 systems")
    svg = figure.render("svg").decode()
    names = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert names.count("GPT") == 2 * 2  # white behind black
    assert "&lt;b&gt;Llama&lt;/b&gt; &amp; co" in names
    assert "s5" not in names
    spec = json.loads(figure.render("json"))
    x, y = (spec["layer"][-1]["encoding"][axis]["scale"]["domain"] for axis in "xy")
    assert spec["width"] / (x[1] - x[0]) == pytest.approx(spec["height"] / (y[1] - y[0]))
    assert board_figure([]) is None


def test_few_systems_are_all_named() -> None:
    figure = board_figure(THREE)
    assert figure is not None
    assert {"careless", "careful", "blind"} <= set(
        re.findall(r"<text[^>]*>([^<]*)</text>", figure.render("svg").decode())
    )


def test_labels_lie_over_no_other_label_and_inside_the_field() -> None:
    draw = random.Random(1)
    dots = [(draw.uniform(0, 300), draw.uniform(0, 200)) for _ in range(80)]
    named = [(f"system {n}", dot) for n, dot in enumerate(dots[:15])]
    labels = place_labels(named, dots, (300, 200))
    assert len(labels) > 10
    boxes = [label.box for label in labels]
    for n, one in enumerate(boxes):
        assert one[0] >= 0
        assert one[2] <= 300
        for other in boxes[n + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1]
            assert apart or other[3] <= one[1]
    # with room enough it stands at the right of its dot, without a line
    (alone,) = place_labels([("alone", (100, 100))], [(100, 100)], (300, 200))
    assert (alone.x, alone.y, alone.align, alone.joined) == (109, 100, "left", False)
    # and with another dot there somewhere else
    (moved,) = place_labels([("alone", (100, 100))], [(100, 100), (120, 100)], (300, 200))
    assert (moved.x, moved.y) != (109, 100)


def test_a_system_without_a_gap_stands_last_with_the_reason() -> None:
    none = Estimate("abstention_gap", problem="no verdicts <b>here</b>")
    page = board_page([BoardSystem("mute", none, none, none), *THREE], "A board", HEADS)
    assert names(page)[-1] == "mute"
    assert "no verdicts &lt;b&gt;here" in page
    assert page.count('class="dot') == 2 * 3
    with pytest.raises(InputError, match="questions of both kinds"):
        board_page([BoardSystem("mute", none, none, none)], "A board", HEADS)


def test_eighty_systems_take_less_than_400_kb_and_reach_for_nothing() -> None:
    draw = random.Random(0)
    months = [f"2024-{m:02}" for m in range(1, 13)]
    many = [
        system(
            f"a model with a rather long name, number {n}", draw.random(), draw.random() / 3,
            About(f"group {n // 4}", draw.choice(["on", "off", ""]), draw.choice(months)),
        )
        for n in range(80)
    ]  # fmt: skip
    page = board_page(many, "A board", HEADS, ["a note"])
    assert len(page.encode()) < 400_000
    assert "connect-src" not in page
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert " style=" not in page


def test_hostile_names_are_text() -> None:
    page = board_page(
        [system(HOSTILE, 0.9, 0.1, About(HOSTILE, HOSTILE, "2024")), *THREE], HOSTILE, HEADS
    )
    assert page.count("<script>") == 1
    assert "alert(1)</script>" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_only_what_was_said_of_systems_joins_them() -> None:
    def of(*abouts: About) -> list[tuple[str, int, int]]:
        return list(joined([system(str(n), 0.5, 0.1, about) for n, about in enumerate(abouts)]))

    assert of(About(), About(), About(thinking="on")) == []
    assert of(About("g"), About("g")) == []
    assert of(About("g", "on"), About("h", "off")) == []
    assert of(About("g", "on"), About("g", "off")) == [("thinking", 1, 0)]
    # degrees in a row; two of one degree are not joined
    assert of(About("g", "high"), About("g", "off"), About("g", "low")) == [
        ("thinking", 1, 2),
        ("thinking", 2, 0),
    ]
    # versions that think alike, by date
    assert of(About("g", "on", "2025-08"), About("g", "on", "2024"), About("g", "off", "2025")) == [
        ("version", 1, 0)
    ]


@pytest.mark.parametrize(("date", "year"), [("2024", 2024.5), ("2024-01-01", 2024 + 1 / 372)])
def test_dates_are_years(date: str, year: float) -> None:
    assert year_number(check_date(date, "here")) == pytest.approx(year)


@pytest.mark.parametrize("date", ["2024-13", "last spring", "24-01", "2024-01-01T00", "<b>"])
def test_other_dates_are_refused(date: str) -> None:
    with pytest.raises(InputError, match="expected a date such as 2025-08-07"):
        check_date(date, "here")


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
        {"group": "family", "thinking": True, "date": "2025-01"},
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


def test_a_study_writes_its_board(made: Path) -> None:
    page = board_place(made, "board").read_text(encoding="utf-8")
    assert page.count("<script>") == 1
    assert names(page) == ["alpha", "&lt;/script&gt;&lt;script&gt;alert(1)", "beta"]
    assert "thinking on, 2025-01" in page
    assert 'class="edge thinking"' in page
    assert "G over time" in page
    assert "Three answers" in page
    assert (made / "tables" / "board.csv").is_file()


def test_what_the_file_said_is_kept_with_the_study(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert of_folders([made]).systems["alpha"] == About("family", "on", "2025-01")
    code = cli.execute(
        [
            "study",
            str(made),
            "--layout",
            "board",
            "--out",
            str(tmp_path / "o"),
            "--resamples",
            "100",
            "--allow",
            "thinking",
        ]
    )
    assert code == 0
    assert "board.html" in capsys.readouterr().out
    assert not (tmp_path / "o" / "figures").exists()
    assert "thinking off, 2025-01" in (tmp_path / "o" / "board.html").read_text(encoding="utf-8")
    # a page of somebody else's is left alone
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "board.html").write_text("mine")
    with pytest.raises(InputError, match="not a page of sayso"):
        write_board(of_folders([made], resamples=100, allow=("thinking",)), theirs, "board")
    assert (theirs / "board.html").read_text() == "mine"


def test_a_board_is_written_from_python(made: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"resamples": 100, "allow": "thinking"}
    sayso.study(made, out=tmp_path / "o", layout="board", **options)
    assert "thinking off, 2025-01" in (tmp_path / "o" / "board.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="pass out, the folder for them"):
        sayso.study(made, layout=["board"], **options)
    with pytest.raises(InputError, match="layout 'bord' is unknown; did you mean board"):
        sayso.study(made, out=tmp_path / "p", layout="bord", **options)


def test_a_study_writes_its_figures(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "o"
    shared = ["study", str(made), "--out", str(out), "--resamples", "100", "--allow", "thinking"]
    figures = ["--layout", "board", "--figures", "svg,json", "--figure-width", "8.4cm"]
    assert cli.execute([*shared, *figures]) == 0
    told = capsys.readouterr().err
    names = sorted(file.name for file in (out / "figures").iterdir())
    assert {"board.svg", "board.json"} <= set(names)
    assert f"figures (json, svg) in {out / 'figures'}" in told.replace("svg, json", "json, svg")
    assert 'width="238.11pt"' in (out / "figures" / "board.svg").read_text()
    assert cli.execute([*shared, "--figures", "gif"]) == 2
    assert "--figures gif: expected a format of figures" in capsys.readouterr().err


def test_a_bad_date_in_the_file_is_told(tmp_path: Path) -> None:
    spec = study(tmp_path)
    spec["models"][0]["date"] = "spring"
    with pytest.raises(InputError, match="alpha: date 'spring'"):
        read_grid(spec)


def test_settings_for_thinking_still_reach_the_model(tmp_path: Path) -> None:
    grid = read_grid(study(tmp_path))
    assert [cell.job.thinking for cell in grid.cells] == ["on", "off", ""]
    assert isinstance(grid.cells[0].job.options, selective.Settings)


# ---- in a browser

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture
def page() -> Iterator[object]:
    """A page that fails its test for any console message, script error or request to anywhere."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 390, "height": 844})
        told: list[str] = []
        opened.on("console", lambda message: told.append(message.text))
        opened.on("pageerror", lambda error: told.append(str(error)))
        opened.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
        opened.on(
            "request", lambda r: told.append(r.url) if not r.url.startswith("file:") else None
        )
        yield opened
        browser.close()
    assert told == []


@pytest.mark.browser
def test_the_price_reorders_the_table_and_the_search_finds(page: object, tmp_path: Path) -> None:
    place = tmp_path / "board.html"
    place.write_text(board_page(THREE, "A board", HEADS), encoding="utf-8")
    page.goto(place.as_uri())  # type: ignore[attr-defined]
    locate = page.locator  # type: ignore[attr-defined]

    def order() -> list[str]:
        return locate("#systems tbody tr:not([hidden]) .pick").all_inner_texts()

    def costs() -> list[str]:
        return locate("#systems tbody td.price").all_inner_texts()

    # by hand, (c (1 - none) + one) / (c + 1): at 1 careful (.1 + .25)/2, careless (.5 + .02)/2
    assert (order(), costs()[:2]) == (["careful", "careless", "blind"], [".175", ".260"])
    assert locate("#price").inner_text() == "as much as a missed answer"
    # with the keyboard to a quarter of a missed answer: careful (.025 + .25)/1.25 = .22,
    # careless (.125 + .02)/1.25 = .116
    locate("#cost").focus()
    for _ in range(20):
        page.keyboard.press("ArrowLeft")  # type: ignore[attr-defined]
    assert locate("#price").inner_text() == "1/4 of a missed answer"
    assert (order(), costs()[:2]) == (["careless", "careful", "blind"], [".116", ".220"])
    locate("#search").fill("CARE")
    assert order() == ["careless", "careful"]
    assert locate("#shown").inner_text() == "2 of 3 systems."
    # who is picked with the keyboard has a name and a cross in the plot
    locate(".pick").first.focus()
    page.keyboard.press("Enter")  # type: ignore[attr-defined]
    assert locate(".pick[aria-pressed=true]").all_inner_texts() == ["careless"]
    assert locate(".narrow .dot.on-show .label").all_text_contents() == ["careless"]
    locate("button[type=reset]").click()
    locate(".pick[aria-pressed=true]").wait_for(state="detached")
    assert order() == ["careful", "careless", "blind"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390  # type: ignore[attr-defined]
