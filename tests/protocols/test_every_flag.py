"""Every protocol runs to its page with each flag that changes what is asked, one flag a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sayso import cli
from sayso.options import fields_of
from sayso.protocols import PROTOCOLS
from support.endpoint import endpoint
from support.tables import tabled

TABLE = Path(__file__).parent / "tables" / "every_flag.jsonl"
#: a prompt of the user's own, by protocol
OWN_PROMPTS = {
    "self_known": ("self_open", "{topic}, please."),
    "faithfulness": ("method_granularity", "Be only as exact as you are sure."),
    "": ("plain_question", "Say: {question}"),
}


def asked(folder: Path, protocol: str, flags: str, model: str = "builtin") -> int:
    """Ask about three entities of the invented world; return the exit code."""
    prompts = folder / "prompts"
    prompts.mkdir(exist_ok=True)
    name, text = OWN_PROMPTS.get(protocol, OWN_PROMPTS[""])
    (prompts / f"{name}.txt").write_text(text, encoding="utf-8")
    if "uncle-run" in flags:
        assert (
            cli.execute(["run", "uncle", "--limit", "3", "--out", str(folder / "uncle-run")]) == 0
        )
        flags = flags.replace("uncle-run", str(folder / "uncle-run"))
    words = [str(prompts) if word == "FOLDER" else word for word in flags.split()]
    data = [] if "--data" in words else ["--data", "builtin"]
    out = folder / f"{protocol}-{model.partition(':')[0]}"
    argv = ["run", protocol, "--model", model, *data, "--limit", "3", "--out", str(out)]
    code = cli.execute([*argv, *words])
    assert (out / "report.html").exists() == (code == 0)
    return code


@tabled
def test_the_paper_s_own_way_reaches_the_page(tmp_path: Path, protocol: str, flags: str) -> None:
    assert asked(tmp_path, protocol, flags) == 0


@pytest.mark.slow
@tabled
def test_every_flag_reaches_the_page(
    tmp_path: Path,
    protocol: str,
    flags: str,
    refused: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = asked(tmp_path, protocol, flags)
    said = capsys.readouterr().err
    assert code == (2 if refused else 0), said
    assert refused in said


def test_the_table_has_every_setting_that_changes_what_is_asked() -> None:
    rows = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    for protocol, plan in PROTOCOLS.items():
        words = {w for row in rows if row["protocol"] == protocol for w in row["flags"].split()}
        names = {word.partition("=")[0] for word in words if "=" in word}
        fields = [field for field in fields_of(plan.Settings) if field.about["stage"] == "collect"]
        left = [f.name for f in fields if f.name not in names and f.flag not in words]
        assert not left, f"{protocol}: add a row for {left}"


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["uncle", "selective", "faithfulness"])
def test_the_paper_s_prompts_reach_page_and_comparison_on_two_models(
    tmp_path: Path, protocol: str
) -> None:
    def say(body: dict[str, object]) -> str:
        return "Zagreb" if len(json.dumps(body)) % 2 else "I do not know."

    assert asked(tmp_path, protocol, "--prompts paper") == 0
    with endpoint(say, lambda body: -0.5) as address:
        assert asked(tmp_path, protocol, "--prompts paper", f"{address}#m") == 0
    runs = [str(path) for path in sorted(tmp_path.glob(f"{protocol}-*"))]
    assert cli.execute(["compare", *runs]) == 0
