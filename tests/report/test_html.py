"""The page: self-contained, under 1.5 MB, honest about what does not exist, deaf to hostility."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.records import Estimate, InputError, slice_of
from sayso.report import write
from sayso.report.page import environment
from sayso.storage.run_folder import Manifest, RunFolder
from support.report_folders import estimates_of, make_run

LIMIT = 1_500_000
HOSTILE = (
    " </script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202eevil\u2066"
    " {{7*7}} {% raw %} &amp; \x00 ' \" `${1}` <!-- ]]>"
)
#: what may stand in a page: anything else came from the data
TAGS = {
    *("html", "head", "meta", "link", "title", "style", "script", "body", "main", "header", "nav"),
    *("section", "h1", "h2", "h3", "p", "ul", "ol", "li", "dl", "dt", "dd", "div", "span", "a"),
    *("b", "em", "q", "cite", "code", "pre", "form", "label", "input", "select", "option"),
    *("button", "details", "summary", "mark", "sup", "bdi", "figure", "figcaption", "table"),
    *(
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "small",
        "svg",
        "g",
        "path",
        "line",
        "text",
        "tspan",
    ),
}


class Reader(HTMLParser):
    """Collects tags, attributes and visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._hidden = False
        self.feed(text.replace("<wbr>", ""))  # where a name may be broken; it shows nothing

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._hidden = tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def check(page: Path) -> Reader:
    """What must hold for every page, whatever the run."""
    data = page.read_bytes()
    assert len(data) < LIMIT
    text = data.decode("utf-8")
    read = Reader(text)
    assert not re.search(r"\b(nan|NaN|None|undefined|null|inf)\b", read.text)
    assert {tag for tag, _ in read.tags} <= TAGS
    assert sum(tag == "script" for tag, _ in read.tags) == 1
    for _, attributes in read.tags:
        assert not any(name.startswith("on") for name in attributes)
        assert "style" not in attributes
        link = attributes.get("href") or ""
        assert re.fullmatch(
            r"#[a-z]+|data:,|\.\./report\.html|(answers/)?answers-\d{3}\.html|", link
        )
    for figure in re.findall(r"<svg.*?</svg>", text, re.S):
        assert "<path" in figure, "an empty chart"
    style, script = (
        re.search(f"<{tag}>(.*?)</{tag}>", text, re.S).group(1)  # type: ignore[union-attr]
        for tag in ("style", "script")
    )
    for part in (style, script):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"sha256-{digest}" in text, "the policy would block our own file"
    return read


def test_ordinary_run(tmp_path: Path) -> None:
    page = write(make_run(tmp_path / "run"))
    read = check(page)
    text = " ".join(read.text.split())
    assert page == tmp_path / "run" / "report.html"
    assert re.search(
        r"facts it knew: right in 1 or more of its samples 60 %", text.replace("\xa0", " ")
    )
    for part in (
        "FA: right when it commits",
        "The same facts under other policies, paragraphs",
        "Every domain",
        "Every type of fact",
        "can be guessed more than",
        "Short against long",
        "Numbers with missing verdicts",
        "sayso run uncle --model builtin --limit 12",
        "FA|data:builtin-3f2a|form:short",
        "All 12 items, with 48 answers.",
        "about real language models",
    ):
        assert part in text, part
    charts = [a for tag, a in read.tags if tag == "svg"]
    assert len(charts) == 4  # two charts, each wide and narrow
    assert all(chart["role"] == "img" and chart["aria-label"] for chart in charts)
    assert not (tmp_path / "run" / "answers").exists()


def test_sentences_carry_their_verdicts(tmp_path: Path) -> None:
    text = write(make_run(tmp_path / "run", 1)).read_text()
    # fact 1 of entity 0 was judged right, fact 2 wrong, fact 3 hedged
    assert '<mark class="v-correct">Entity 0 was born on </mark>' in text
    assert '<b class="value"><mark class="v-correct">4 May 1950</mark></b>' in text
    assert '<sup class="v-incorrect">2✗</sup>' in text
    assert 'data-long="uncertain" data-long-stance="hedged"' in text


@pytest.mark.parametrize(
    ("name", "options"),
    {
        "no known fact": {
            "found": estimates_of("short", (0, 0, 0, 2, 8, 3)),
            "unknown_only": True,
        },
        "all missing": {
            "found": [
                Estimate(
                    name, slice_of(form=form), n=0, missing=36, bound_low=0.0, bound_high=1.0,
                    problem="no verdict could be read",
                )
                for form in ("short", "long")
                for name in ("FA", "UA", "UUR", "KCR", "EA", "J", "p_known")
            ],
            "unread": True,
        },
        "one row": {"entities": 1, "facts": 1, "found": estimates_of("short", (1, 0, 0, 0, 0, 0))},
        "nothing measured": {"found": []},
        "not a number": {
            "found": [Estimate("FA", slice_of(form="short"), float("nan"), float("nan"), 1.0)]
        },
    }.items(),
)  # fmt: skip
def test_runs_that_have_little_to_show(
    tmp_path: Path, name: str, options: dict[str, object]
) -> None:
    read = check(write(make_run(tmp_path / "run", **options)))  # type: ignore[arg-type]
    assert "The answers" in read.text, name


def test_all_missing_is_said(tmp_path: Path) -> None:
    found = [
        Estimate(
            "EA",
            slice_of(form="short"),
            missing=36,
            bound_low=0.0,
            bound_high=1.0,
            problem="unread",
        )
    ]
    read = check(write(make_run(tmp_path / "run", found=found, unread=True)))
    text = " ".join(read.text.split()).replace("\xa0", " ")
    assert "36 of 36 facts are left out" in text
    assert "EA, short answers 36 – [0.0, 100.0]" in text
    assert "? unread" in text


def test_five_thousand_rows(tmp_path: Path) -> None:
    page = write(make_run(tmp_path / "run", 1250, plain=False, facts=3))
    read = check(page)
    beside = sorted((tmp_path / "run" / "answers").iterdir())
    # 1,250 paragraphs and 3,750 short answers; a page holds 75 items of 4 answers
    assert len(beside) == 16
    assert ("This page shows 75 of 1,250 items (5,000 answers in total)") in " ".join(
        read.text.split()
    )
    shown = sum(other.read_text().count('class="card"') for other in [page, *beside])
    assert shown == 1250
    for other in (beside[0], beside[-1]):
        check(other)
    again = page.read_text()
    write(tmp_path / "run")
    assert page.read_text() == again, "the draw is seeded"


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    found = [
        Estimate(
            "FA",
            slice_of(form="short"),
            problem=HOSTILE,
            signature=(("", "FA"), (HOSTILE, HOSTILE)),
        ),
        Estimate("J", slice_of(form="short", domain=HOSTILE), 0.2, 0.1, 0.3, n=9),
        Estimate("J", slice_of(form="short", type=HOSTILE), 0.2, 0.1, 0.3, n=9),
        Estimate("guess_rate", slice_of(type=HOSTILE), 0.5),
    ]
    read = check(write(make_run(tmp_path / "run", found=found, hostile=HOSTILE)))
    raw = (tmp_path / "run" / "report.html").read_text()
    for sign in ("\x1b", "\x00", "\u202e", "\u2066"):
        assert sign not in raw
    assert "{{7*7}}" in read.text
    assert "49 {% raw" not in raw


def test_a_megabyte_of_answer_is_cut_and_said(tmp_path: Path) -> None:
    read = check(write(make_run(tmp_path / "run", 3, hostile=" word" * 200_000)))
    assert "more characters, in the run's tables" in read.text


@settings(max_examples=20, deadline=None)
@given(st.text(st.characters(), min_size=1, max_size=60))
def test_any_text_makes_a_valid_page(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    plain = text.encode("utf-8", "replace").decode()
    write(make_run(tmp_path_factory.mktemp("run"), 1, found=[], hostile=plain))


def test_an_unfinished_run_is_refused_in_one_line(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "run")
    run.write_manifest(Manifest(command="sayso run uncle"))
    with pytest.raises(InputError, match=r"no numbers yet.*sayso run uncle"):
        write(tmp_path / "run")


def test_a_name_may_be_broken_at_its_signs_and_stays_escaped() -> None:
    breakable = environment().filters["breakable"]
    assert breakable("hf:a/b@c+end_loops") == "hf:<wbr>a/<wbr>b<wbr>@c<wbr>+end_loops"
    assert breakable("<b>") == "&lt;b&gt;"
