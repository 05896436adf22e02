"""Options are declared once: flags, ``--set``, YAML, Python and jobs are fields of structs."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import cyclopts
import pytest

import sayso
from sayso import cli, options
from sayso.cli.flags import RunFlags, StudyKeys
from sayso.keywords import RunKeywords
from sayso.options import (
    OPTIONS,
    ModelOptions,
    QuestionOptions,
    change,
    check_values,
    fields_of,
    for_others,
    given,
)
from sayso.protocols import PROTOCOLS
from sayso.runs.job import Job
from sayso.runs.run import OF_TEXTS
from sayso.studies.grid import FLAGS
from support import keywords

#: flags that a command may accept and show, deprecated ones aside
MOST_FLAGS = 25


def test_keywords_for_type_checkers_are_those_of_the_options() -> None:
    assert keywords.PLACE.read_text(encoding="utf-8") == keywords.text()
    names = options.option_names(*OPTIONS)
    assert set(RunKeywords.__annotations__) >= set(names) - set(options.option_names(ModelOptions))
    assert set(OF_TEXTS) <= {*names}


def test_every_option_is_a_setting_of_a_run_a_field_of_its_job_and_a_key_of_a_study() -> None:
    names = {name for kind in OPTIONS for name in options.option_names(kind)}
    assert names <= {field.name for field in dataclasses.fields(Job)}
    assert names <= set(FLAGS)
    explained = [f for p in PROTOCOLS.values() for f in fields_of(p.Settings)]
    explained += [field for kind in OPTIONS for field in fields_of(kind)]
    assert all(len(field.about["help"]) > 7 for field in explained)
    for kind in (RunFlags, StudyKeys):
        assert names <= {field.name for field in fields_of(kind)}


def commands(app: cyclopts.App, *above: str) -> Iterator[tuple[str, cyclopts.App]]:
    for name in app:
        if not name.startswith("-"):
            if app[name].default_command is not None:
                yield " ".join((*above, name)), app[name]
            yield from commands(app[name], *above, name)


COMMANDS = dict(commands(cli.app))


def declared(command: cyclopts.App) -> Mapping[str, options.OptionField]:
    function: Any = command.default_command
    return getattr(function, "fields", {})


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_few_flags_and_each_is_a_field_with_help(name: str) -> None:
    command = COMMANDS[name]
    flags = {a.name for a in command.assemble_argument_collection() if a.name.startswith("--")}
    assert len(flags) <= MOST_FLAGS
    fields = declared(command)
    assert flags - {"--set", "--config"} == {f.flag for f in fields.values() if f.about["main"]}
    assert all(len(f.about["help"]) > 7 or not f.about["main"] for f in fields.values())
    assert len({f.about["old"] for f in fields.values()} & fields.keys()) == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_every_setting_and_all_of_it_explains_them(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    settings = [f for f in declared(COMMANDS[name]).values() if not f.about["main"]]
    for flag in ("--help", "--help-all"):
        assert cli.execute([*name.split(), flag]) == 0
        shown = capsys.readouterr().out
        for field in settings:
            if field.about["help"]:
                assert re.search(rf"\b{re.escape(field.name)}\b", shown), field.name
        explained = [f for f in settings if f.about["help"][:20] in " ".join(shown.split())]
        assert flag == "--help" or len(explained) >= 0.8 * sum(
            bool(f.about["help"]) for f in settings
        )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"batch_size": 0}, "batch_size is 0; expected 1 to 100000"),
        ({"timeout": 0.0}, "timeout is 0; expected 0.001 to 86400"),
        ({"concurrency": 10_001}, "concurrency is 10001; expected 1 to 10000"),
        ({"batch_size": "4"}, "batch_size is '4'; expected a whole number"),
        ({"batch_size": True}, "batch_size is True; expected a whole number"),
        ({"device": 0}, "device is 0; expected a text"),
        ({"timeout": "9"}, "timeout is '9'; expected a number"),
        ({"timeout": float("nan")}, "timeout is nan; expected 0.001 to"),
        ({"end_loops": 1}, "end_loops is 1; expected true or false"),
    ],
)
def test_types_and_limits_hold(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(sayso.InputError, match=said):
        check_values(ModelOptions(**changed))
    check_values(ModelOptions(timeout=9, end_loops=False))


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        ("batch_size", "4", 4),
        ("batch_size", "4.0", 4),
        ("batch_size", 4.0, 4),  # of a YAML file
        ("timeout", "9", 9.0),
        ("timeout", "1e2", 100.0),
        ("timeout", "50%", 0.5),
        ("end_loops", "no", False),
        ("end_loops", "True", True),
        ("revision", 12, "12"),
        ("batch_size", None, None),
    ],
)
def test_what_people_type_is_read_as_the_field_has_it(name: str, typed: Any, value: Any) -> None:
    found = getattr(change(ModelOptions(), {name: typed}, typed=True), name)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("typed", ["4.5", "four", "", "1e400", "nan", "9" * 5000, [4], {"a": 4}])
def test_what_is_no_value_is_refused_in_one_short_line(typed: Any) -> None:
    with pytest.raises(sayso.InputError) as told:
        change(ModelOptions(), {"batch_size": typed}, typed=True)
    assert str(told.value).startswith(("batch_size is", "setting 'batch_size.a' is unknown"))
    assert len(str(told.value)) < 300


def test_a_list_is_one_name_or_several() -> None:
    for typed in ("movies", ["movies"], ("movies",)):
        assert change(QuestionOptions(), {"domains": typed}).domains == ("movies",)
    with pytest.raises(sayso.InputError, match="domains is 3; expected a list"):
        change(QuestionOptions(), {"domains": 3})


def test_a_judge_is_not_opened_with_what_is_for_the_model_that_answers() -> None:
    own = ModelOptions(device="cpu", dtype="float16", batch_size=3, timeout=5.0, model_version="v")
    assert given(for_others(own)) == {"device": "cpu", "timeout": 5.0}


def test_a_keyword_that_no_function_has_is_refused_with_the_one_that_may_be_meant() -> None:
    with pytest.raises(TypeError, match=r"run\(\) got .* 'dtyp'; did you mean dtype\?"):
        sayso.run(dtyp="float16", report=False)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"factuality\(\) got .* 'limit'"):
        sayso.factuality("texts.jsonl", limit=3)  # type: ignore[call-arg]


def test_help_lists_every_keyword_with_its_default() -> None:
    shown = inspect.signature(sayso.run).parameters
    assert set(options.option_names(*OPTIONS)) < set(shown)
    assert shown["split"].default == "test"
    assert shown["judge_batch"].default == "item"
    assert "given" not in shown


# ---- one value, four ways


def reach(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Return the jobs that ``sayso run --dry-run`` prices from now on."""
    found: list[Job] = []
    monkeypatch.setattr(
        "sayso.cli.running._price", lambda jobs, *a, **k: found.extend(jobs.values())
    )
    return found


RUN = ["run", "uncle", "--dry-run"]


def by_set(tmp_path: Path, name: str, value: str) -> list[str]:
    return [*RUN, "--set", f"{name}={value}"]


def by_file(tmp_path: Path, name: str, value: str) -> list[str]:
    (tmp_path / "c.yaml").write_text(f"{name}: {value}\n", encoding="utf-8")
    return [*RUN, "--config", str(tmp_path / "c.yaml")]


def by_old_flag(tmp_path: Path, name: str, value: str) -> list[str]:
    return [*RUN, f"--{name.replace('_', '-')}", value]


WAYS: list[Callable[[Path, str, str], list[str]]] = [by_set, by_file, by_old_flag]


@pytest.mark.parametrize("way", WAYS)
def test_a_setting_is_one_value_whichever_way_it_comes(
    way: Callable[[Path, str, str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = reach(monkeypatch)
    assert cli.execute(way(tmp_path, "probe.k", "3")) == 0
    assert cli.execute(way(tmp_path, "batch_size", "7")) == 0
    assert jobs[0].options == change(PROTOCOLS["uncle"].Settings(), {"probe.k": 3})
    assert jobs[1].batch_size == 7


@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_value_is_one_line_whichever_way_it_comes(
    way: Callable[[Path, str, str], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value, said in (
        ("probe.k", "many", "probe.k is 'many'; expected a whole number"),
        ("probe.k", "0", "probe.k is 0; expected 1 to 1000"),
        ("batch_size", "0", "batch_size is 0; expected 1 to 100000"),
        ("judge_mode", "both", "judge_mode is 'both'; expected one of one_pass, two_pass"),
    ):
        assert cli.execute(way(tmp_path, name, value)) == 2
        assert capsys.readouterr().err.splitlines()[-1].endswith(said)
        python = {name: int(value) if value.isdigit() else value}
        given: dict[str, Any] = {"settings": python} if "." in name else python
        with pytest.raises(sayso.InputError, match=re.escape(said)):
            sayso.run(out=tmp_path / "run", **given)


def test_a_flag_with_a_name_of_its_own_is_told_by_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.execute(["run", "selective", "--for", "decline"]) == 2
    assert "--for is 'decline'; expected one of both, declining" in capsys.readouterr().err


@pytest.mark.parametrize("way", WAYS[:2])
def test_an_unknown_setting_is_told_with_the_one_that_may_be_meant(
    way: Callable[[Path, str, str], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, meant in (("probe.kay", "probe.k"), ("judge_mod", "judge_mode"), ("k", "probe.k")):
        assert cli.execute(way(tmp_path, name, "3")) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert f"'{name}' is unknown; did you mean {meant}" in said


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["--probe.k", "3"], "--probe.k is now a setting: --set probe.k=3"),
        (["--probe.k=3"], "--probe.k is now a setting: --set probe.k=3"),
        (["--short-only"], "--short-only is now a setting: --set short_only=true"),
        (["--no-end-loops"], "--no-end-loops is now a setting: --set end_loops=false"),
        (["--domain", "movies"], "--domain is now a setting: --set domains=movies"),
    ],
)
def test_an_old_flag_works_and_names_what_replaces_it(
    argv: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    jobs = reach(monkeypatch)
    assert cli.execute([*RUN, *argv]) == 0
    assert capsys.readouterr().err == f"sayso: {told}\n"
    assert cli.execute([*RUN, *told.partition(": ")[2].split()]) == 0
    assert capsys.readouterr().err == ""
    assert dataclasses.replace(jobs[0], command="") == dataclasses.replace(jobs[1], command="")


def test_the_command_line_wins_over_the_file_and_nothing_is_given_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = reach(monkeypatch)
    file = tmp_path / "c.yaml"
    file.write_text("probe: {k: 3}\nseed: 4\nmodel: builtin\nout: ~\ndomain: [movies]\n")
    argv = [*RUN, "--config", str(file), "--set", "probe.k=2", "--seed", "0"]
    assert cli.execute(argv) == 0
    assert (jobs[0].options.probe.k, jobs[0].seed, jobs[0].domains) == (2, 0, ("movies",))
    for twice in (["--seed", "1", "--set", "seed=2"], ["--set", "probe.k=1", "--probe.k", "2"]):
        assert cli.execute([*RUN, *twice]) == 2
        assert "is given twice; leave one out" in capsys.readouterr().err
    both = ["--set", "domains=movies,companies", "--domain", "places"]
    assert cli.execute([*RUN, *both]) == 0
    assert jobs[1].domains == ("movies", "companies", "places")
    for wrong in ("probe.k", "=3", ""):
        assert cli.execute([*RUN, "--set", wrong]) == 2
        assert "expected NAME=VALUE" in capsys.readouterr().err


def test_a_new_option_is_one_field(tmp_path: Path) -> None:
    """A field that is added to a struct is a setting everywhere, and a flag if it is main."""
    script = tmp_path / "added.py"
    script.write_text(ADDED, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = "pulse is 11; expected 1 to 9"
    assert [row for row in done.stdout.splitlines() if row] == [
        "3 4 0.5",
        "5 4 0.5",
        "6 4 0.5",
        "7 4 0.5",
        said,
    ]


ADDED = '''
import pathlib, sys
from importlib.machinery import SourceFileLoader

number = "Annotated[int, Meta(ge=1, le=9)]"
ADDED = {
    "sayso.options": ("    dtype: str | None = option(\\n        None,\\n        \\"number",
        f"    pulse: {number} = option(1, 'beats', main=True)\\n"
        f"    quiet: {number} = option(1, 'rests')\\n"),
    "sayso.protocols.uncle.settings": ("    short_only: bool",
        "    depth: Annotated[float, Meta(ge=0, le=1)] = collect_field(1.0, 'how deep')\\n"),
}
loaded = SourceFileLoader.get_code

def get_code(loader, name):
    """Load a module, with fields added before a line of it."""
    if name not in ADDED:
        return loaded(loader, name)
    before, text = ADDED[name]
    source = pathlib.Path(loader.path).read_text(encoding="utf-8")
    assert source.count(before) == 1
    return compile(source.replace(before, text + before), loader.path, "exec")

SourceFileLoader.get_code = get_code

import sayso
from sayso import cli
import sayso.cli.running as running

found = []
running._price = lambda jobs, *more, **how: found.extend(jobs.values())
argv = ["run", "uncle", "--dry-run"]
assert cli.execute([*argv, "--pulse", "3", "--set", "quiet=4", "--set", "depth=50%"]) == 0
assert cli.execute([*argv, "--set", "pulse=5", "--quiet", "4", "--depth", ".5"]) == 0
pathlib.Path(sys.argv[0]).with_name("c.yaml").write_text("pulse: 6\\nquiet: 4\\ndepth: 0.5\\n")
assert cli.execute([*argv, "--config", str(pathlib.Path(sys.argv[0]).with_name("c.yaml"))]) == 0
import sayso.runs.run as runs
runs.execute_job = lambda job, *more: found.append(job)
runs.run(pulse=7, quiet=4, settings={"depth": 0.5}, report=False)
for job in found:
    print(job.pulse, job.quiet, job.options.depth)
try:
    runs.run(pulse=11, report=False)
except sayso.InputError as error:
    print(error)
'''


# ---- words of messages and documents


ROOT = Path(options.__file__).parent
TEXTS = [*ROOT.rglob("*.py"), *Path(__file__).parents[1].glob("docs/**/*.*")]


def test_messages_and_documents_name_flags_and_settings_that_exist() -> None:
    fields = [(name, f) for name, command in COMMANDS.items() for f in declared(command).values()]
    settings = {field.name for _, field in fields if not field.about["main"]}
    flags = {
        word for _, f in fields if f.about["main"] for word in (f.flag, *f.about["flag"].split())
    }
    were = {f"--{name.replace('_', '-')}" for name in settings} - flags
    for path in TEXTS:
        if path.suffix in (".py", ".md", ".yml", ".yaml", ".sh"):
            text = path.read_text(encoding="utf-8")
            gone = set(re.findall(r"(?<![\w-])--[a-z][a-z.-]*[a-z]", text)) & were
            assert not gone, f"{path}: {', '.join(gone)} became --set NAME=VALUE"
            named = set(re.findall(r"--set ([a-z][\w.]*)=", text))
            assert named <= settings | {f.name for _, f in fields}, path


def test_assertions_stand_before_or_after_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def decide(run: Path, words: list[str], flags: Any, *, json: bool) -> int:
        asked.append((words, flags.allow_cache, flags.raw))
        return 0

    monkeypatch.setattr("sayso.cli.run._decide", decide)
    words, flag = ["a >= 1", "b"], "--allow-cache"
    for argv in ([flag, *words], [*words, flag], [words[0], flag, words[1]]):
        assert cli.execute(["assert", "runs/x", *argv]) == 0
    assert asked == [(words, True, False)] * 3
