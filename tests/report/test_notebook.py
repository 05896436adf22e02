"""What a notebook shows: every text of others is escaped."""

from __future__ import annotations

from sayso.report.notebook import html_table

BOLD = "<b>x</b> & <script>"
ESCAPED = "&lt;b&gt;x&lt;/b&gt; &amp; &lt;script&gt;"


def test_every_text_of_a_table_is_escaped() -> None:
    page = html_table(
        f"title {BOLD}",
        [f"head {BOLD}"],
        [[f"cell {BOLD}"]],
        cautions=[f"caution {BOLD}"],
        notes=[f"note {BOLD}"],
        last=f"last {BOLD}",
    )
    for place in ("title", "head", "cell", "caution", "note", "last"):
        assert f"{place} {ESCAPED}" in page, place
    assert BOLD not in page
    assert f"nothing {ESCAPED}" in html_table("t", [], [], nothing=f"nothing {BOLD}")
