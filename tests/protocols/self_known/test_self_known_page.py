"""The page of a self_known run: any numbers, any texts, claims marked where they stand."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import sayso
from sayso import report
from sayso.harmless import block
from sayso.protocols import self_known
from sayso.protocols.self_known.marked import MarkedTexts, ReadClaim, drawn_texts, pieces_of
from sayso.protocols.self_known.report import sheet
from sayso.protocols.settings import replace
from sayso.records import Claim, Estimate, Generation, Request, Sentence, slice_of
from sayso.report.page import sheet_page
from sayso.storage.run_folder import RunFolder
from support.long_texts import make_long_run, manifest, numbers
from support.scripted import ScriptedEngine
from support.scripted_world import facts, records, write

EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(2)> \x1b[31m\u202e'


def claim(number: int, label: str, span: tuple[int, int] | None) -> ReadClaim:
    return ReadClaim(number, label, "a claim", span)


def page_of(found: list[Estimate], **fields: object) -> str:
    """The page of numbers, without texts; spaces that do not break are plain ones."""
    made = manifest(**fields)  # type: ignore[arg-type]
    return sheet_page(sheet(found, made), made).replace("\N{NO-BREAK SPACE}", " ")


def test_overlapping_claims_are_cut_where_they_begin_and_end() -> None:
    # claims on abcd (supported), cdef (not supported) and gh (no label)
    claims = [claim(1, "S", (0, 4)), claim(2, "NS", (2, 6)), claim(3, "", (6, 8))]
    found = pieces_of("abcdefghij", claims)
    assert [(p.text, p.styles, [c.number for c in p.ended]) for p in found] == [
        ("ab", ("c-s",), []),
        ("cd", ("c-s", "c-ns"), [1]),
        ("ef", ("c-ns",), [2]),
        ("gh", ("c-no",), [3]),
        ("ij", (), []),
    ]


def test_several_claims_on_one_sentence_are_one_stretch_with_a_line_for_each_verdict() -> None:
    labels = ["S", "NS", "S", "IR", ""]
    claims = [claim(n, label, (0, 11)) for n, label in enumerate(labels, start=1)]
    (only,) = pieces_of("A sentence.", claims)
    assert only == ("A sentence.", ("c-s", "c-ir", "c-no", "c-ns"), claims)


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), st.sampled_from(["S", "NS", ""]))),
)
def test_no_word_is_lost_and_every_claim_stands_once(
    text: str, drawn: list[tuple[int, int, str]]
) -> None:
    claims = [
        claim(n, label, (a, b) if a < b <= len(text) else None)
        for n, (a, b, label) in enumerate(drawn, start=1)
    ]
    found = pieces_of(text, claims)
    assert "".join(p.text for p in found) == block(text)
    shown = [c.number for p in found for c in p.ended]
    assert sorted(shown) == [c.number for c in claims if c.span]
    assert all(p.styles for p in found if p.ended)


def test_topics_are_drawn_whole_and_by_the_seed() -> None:
    by_topic = {f"t{n}": [f"a{n}", f"b{n}"] for n in range(50)}
    first = drawn_texts(by_topic, 0, 10)
    assert [a[1:] for a in first[::2]] == [b[1:] for b in first[1::2]]
    assert first == drawn_texts(by_topic, 0, 10) != drawn_texts(by_topic, 1, 10)


def test_a_claim_that_is_not_in_its_text_is_listed_and_said_so(tmp_path: Path) -> None:
    run = make_long_run(tmp_path / "run", 1, ("plain",))
    lost = [
        Claim("plain-0-0", "plain-0", 1, 900, 990, "beyond the end"),  # its sentence is marked
        Claim("plain-0-1", "plain-0", 9, 7, 7, "no sentence 9"),
    ]
    run.write("claims/long", lost, Claim)
    (text,) = MarkedTexts(run).drawn(0)
    assert [c.number for p in text.pieces for c in p.ended] == [1]
    assert text.pieces[0].text == "Entity 0 was born in Ripley."
    assert text.claims[1].span is None
    assert "not in the text" in text.claims[1].known
    assert text.claims[1].known.startswith("no sentence")


def test_what_is_known_of_a_claim_stands_in_its_list(tmp_path: Path) -> None:
    (text,) = MarkedTexts(make_long_run(tmp_path / "run", 1, ("plain",))).drawn(0)
    assert [c.label for c in text.claims] == ["S", "NS", "IR"]
    for part in (
        "sentence 1 of 3",
        "its words .90",
        "or none of these? yes (.81)",
        "evidence: About",
    ):
        assert part in text.claims[0].known  # .90 = exp(-.1)
    assert text.passages == [("About Entity 0", "Entity 0 was born. ")]


NOTHING = Estimate("factscore", slice_of(method="x"), problem="nothing to count")


@pytest.mark.parametrize(
    "found",
    [
        [],
        [NOTHING],
        [Estimate("factscore", slice_of(method="x"), 0.5)],
        [Estimate("SK", (), 1.0, n=3)],
        [Estimate("factuality", slice_of(method="a", part="1/1"), 1.0, n=1)],
        [Estimate(e.name, e.where, problem="lost", missing=9) for e in numbers()],
        [Estimate(e.name, e.where, e.value) for e in numbers()],
    ],
)
def test_any_numbers_make_a_page(found: list[Estimate]) -> None:
    page = page_of(found)
    assert "nan" not in re.sub(r"<style>.*?</style>|<script>.*?</script>", "", page, flags=re.S)


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.builds(
            Estimate,
            st.sampled_from(sorted({e.name for e in numbers()})),
            st.lists(st.tuples(st.text(max_size=12), st.text(max_size=12)), max_size=3).map(tuple)
            | st.builds(
                slice_of,
                method=st.text(max_size=6),
                part=st.integers(0, 9).map("{}/5".format),
                mode=st.sampled_from(["qa", "qa_none", "x"]),
            ),
            st.none() | st.floats(-3, 3),
            st.none() | st.floats(-3, 3),
            st.none() | st.floats(-3, 3),
            n=st.integers(0, 10**6),
            missing=st.integers(0, 5),
        ),
        max_size=12,
    )
)
def test_estimates_of_any_place_make_a_page(found: list[Estimate]) -> None:
    assert page_of(found).rstrip().endswith("</html>")


def test_thousands_of_estimates_make_one_small_page() -> None:
    found = [
        Estimate(
            "factscore",
            slice_of(method=f"system {n // 50}", domain=f"domain {n % 50}"),
            0.5,
            0.4,
            0.6,
            n=9,
        )
        for n in range(5_000)
    ]
    page = page_of(found)
    assert len(page.encode()) < 1_500_000
    assert "system 99" in page


def test_the_page_says_what_was_measured() -> None:
    page = page_of(numbers())
    for text in (
        "60 % are supported",
        "fewer of them towards the end",
        "unsupported claims per sentence",
        "[55.0, 65.0]",  # bounds of FActScore
        "unretrieved",
        # accepts 78 %, labels say 60 %
        "+0.18",
        "12.0 %",  # taken back, of the supported claims
        "34.0 %",
        "is this the answer?",
        "or none of these?",
        "it does not measure quality",
        "F1 at K facts, K = 9",
        "F1 at K facts, K = 13",
        "no further answer",
        "How good is the checker?",
        "very rare",
        "few texts",
    ):
        assert text in page, text
    assert page.index("few texts") < page.index("60 % are supported")  # cautions before numbers
    assert page.count('class="chart wide"') == 1


def test_sections_about_what_was_not_asked_are_left_out() -> None:
    page = page_of([e for e in numbers() if e.name in ("factscore", "factuality")])
    for section in ("itself", "along", "gains", "whole", "scores", "checker"):
        assert (f'id="{section}"' in page) == (section == "whole")


def test_the_model_that_was_asked_about_given_texts_is_named() -> None:
    asked = manifest(data="texts", model="one, two", chosen={"model": f"m{EVIL}"})
    found = numbers(("one", "two"))
    page = sheet_page(sheet(found, asked), asked)
    assert "Where are these long texts wrong?" in page
    assert "Does m&lt;script&gt;" in page
    assert "notice these errors?" in page
    assert "<script>alert" not in page
    out = io.StringIO()
    report.render_run(found, Console(file=out, width=80), asked, None)
    assert "), m<script>" in " ".join(out.getvalue().split())
    assert "notice these errors" not in page_of(numbers(("one",)), data="texts", model="one")


def test_a_run_is_one_screen_and_verbose_prints_every_table() -> None:
    short, long = io.StringIO(), io.StringIO()
    found = [e for e in numbers(("plain",)) if "domain" not in dict(e.where)]
    report.render_run(found, Console(file=short, width=80), manifest(), None)
    report.render_run(found, Console(file=long, width=80), manifest(), None, verbose=True)
    assert len(short.getvalue().splitlines()) <= 40
    for name in ("supported claims", "part 5/5", "Self-Known", "claims per text"):
        assert name in short.getvalue()
    assert "order of the options" not in short.getvalue()
    assert "order of the options" in " ".join(long.getvalue().split())


def test_the_terminal_says_which_way_of_asking_there_was() -> None:
    place = slice_of(method="m", mode="direct")
    found = [Estimate("accept_rate", place, 0.5, n=9), Estimate("SK", place, 0.37, n=9)]
    out = io.StringIO()
    report.render_run(found, Console(file=out, width=80), manifest(), None)
    assert "37 %" in out.getvalue()
    assert 'asked "is it true?"' in out.getvalue()
    assert "none of these" not in out.getvalue()


def test_what_others_wrote_is_data_on_the_page(tmp_path: Path) -> None:
    page = report.write(make_long_run(tmp_path / "run", hostile=EVIL)).read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;alert(1)" in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in html.unescape(policy.group(1))
    assert "unsafe" not in policy.group(1)
    assert page.count("<script") == 1
    assert not re.search(r"\son[a-z]+=", re.sub(r"<script>.*?</script>|&lt;[^<]*", "", page))


def test_of_a_thousand_texts_some_are_drawn(tmp_path: Path) -> None:
    run = make_long_run(tmp_path / "run", 1_000, ("plain",), found=[])
    page = report.write(run)
    text = page.read_text(encoding="utf-8")
    assert page.stat().st_size < 1_500_000
    assert "60 of 1,000 texts that answer" in text
    assert text.count('<details class="card text"') == 60


def test_texts_of_any_length_leave_the_page_small(tmp_path: Path) -> None:
    run = make_long_run(
        tmp_path / "run", 40, ("plain",), hostile="\u4e00" * 1_000, claims=20, found=[]
    )
    page = report.write(run)
    text = page.read_text(encoding="utf-8")
    assert page.stat().st_size < 1_500_000
    shown = text.count('<details class="card text"')
    assert 1 <= shown < 40
    assert f"{shown} of 40 texts" in text


def test_long_texts_are_cut_and_claims_beyond_the_cut_are_listed(tmp_path: Path) -> None:
    run = make_long_run(tmp_path / "run", 1, ("plain",), found=[])
    long = "word " * 3_000
    run.write(
        "generations/long",
        [Generation(next(run.iter("generations/long", Generation)).request, id="plain-0",
                    question="q0", stage="long", method="plain", text=long)],
        Generation,
    )  # fmt: skip
    run.write("sentences/long", [Sentence("plain-0", 1, 0, len(long))], Sentence)
    run.write("claims/long", [Claim("plain-0-0", "plain-0", 1, 9_000, 9_010, "far")], Claim)
    (text,) = MarkedTexts(run).drawn(0)
    assert text.cut == 9_000
    assert [c.claim for c in text.claims] == ["far"]
    assert "9,000 more characters" in report.write(run).read_text(encoding="utf-8")


def test_a_run_without_texts_or_claims_is_shown(tmp_path: Path) -> None:
    run = make_long_run(tmp_path / "run", 0, found=[])
    assert "No text in this run answers its prompt." in report.write(run).read_text(
        encoding="utf-8"
    )
    bare = RunFolder.create(tmp_path / "bare")
    bare.write("metrics/self_known", [], Estimate)
    bare.write_manifest(manifest())
    report.write(bare)


def test_labels_of_people_need_no_passages(tmp_path: Path) -> None:
    run = make_long_run(tmp_path / "run", 2, ("A", "B"), bare=True, found=[])
    text = report.write(run).read_text(encoding="utf-8")
    assert "irrelevant" in text
    assert "evidence:" not in text


def test_a_run_of_the_protocol_has_every_section(tmp_path: Path) -> None:
    world = records(facts(8))

    def answer(request: Request) -> str:
        asked = request.messages[-1].content
        about = next((r for r in world if r["prompt"] == asked), None)
        if about is None:
            return "false" if "Tolm" in asked else "true"
        # the first fact of each is told rightly, the others are not
        return " ".join(
            f"The {q['label']} of {about['entity']} is {q['answer'][0] if not n else 'Tolm'}."
            for n, q in enumerate(about["individual_qa"])
        )

    made = sayso.run(
        "self_known", model=ScriptedEngine(answer, name="m"),
        data=str(write(tmp_path / "q.jsonl", world)), out=tmp_path / "run", cache=tmp_path / "c",
        options=replace(self_known.Settings(), {"resamples": 100}), report=False,
    )  # fmt: skip
    page = report.write(made.path).read_text(encoding="utf-8")
    # S, NS, NS in every text
    assert "33\N{NO-BREAK SPACE}% are supported" in page
    for text in (
        'id="along"',
        "Does it notice its own errors?",
        "Self-Known: supported claims accepted",
        'id="scores"',
        "All 8 texts that answer",
        'class="claim-list"',
    ):
        assert text in page
    assert page.count('<span class="c-s line-1') == 8 + 1  # a stretch in each text, and the legend
    assert page.count('<span class="c-ns line-1') == 16 + 1


@pytest.mark.parametrize("found", [[], [NOTHING], numbers(), numbers(("a;b\x1b[31m\u202e",))])
def test_the_table_holds_for_any_numbers_and_fits(found: list[Estimate]) -> None:
    out = io.StringIO()
    report.render_run(found, Console(file=out, width=80), manifest(EVIL), None)
    printed = out.getvalue()
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    lines = [x for x in printed.splitlines() if not x.startswith(("signature", "report"))]
    assert all(len(x) <= 80 for x in lines)


def test_answers_that_nobody_could_read_are_counted() -> None:
    asked = slice_of(method="m", mode="qa")
    found = [
        Estimate("factscore", slice_of(method="m"), 0.5, n=3),
        Estimate("accept_rate", asked, problem="nothing to count", missing=7),
    ]
    page = page_of(found)
    assert "Does it notice its own errors?" in page
    assert "accepted, m, is this the answer?" in html.unescape(page)
    assert "<td>7</td>" in page


def test_a_movement_is_shown_only_with_its_interval() -> None:
    bare = Estimate("trend", slice_of(method="m"), 0.123, problem="9 topics cannot show a trend")
    found = [Estimate("factscore", slice_of(method="m"), 0.5, n=9), bare]
    page = page_of(found)
    assert "0.12" not in page
    assert "9 topics cannot show a trend" in page
