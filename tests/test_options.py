"""Options are declared once: flags, keywords of Python and keys of a study are their fields."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, get_type_hints

import pytest

import sayso
from sayso import options
from sayso.cli.flags import RunFlags
from sayso.options import ModelOptions, RunKeywords, check_kinds, check_types, for_others, given
from sayso.runs.from_files import TextKeywords
from sayso.runs.job import OPTIONS, Job
from sayso.studies.grid import FLAGS


def kinds() -> list[type]:
    return [kind for kind in vars(options).values() if isinstance(kind, type)]


def test_every_option_has_a_keyword_of_its_type() -> None:
    fields = {name: hint for kind in OPTIONS for name, hint in get_type_hints(kind).items()}
    words = get_type_hints(RunKeywords)
    assert set(fields) == set(words)
    #: what Python takes besides: a path, one name for a list of one, a number for a level
    wider = {"cache", "domains", "tiers", "thinking", "system"}
    assert {name for name in fields if fields[name] != words[name]} == wider
    assert set(get_type_hints(TextKeywords)) <= {*words}


def test_every_option_is_a_flag_of_a_run_a_field_of_its_job_and_a_key_of_a_study() -> None:
    names = {name for kind in OPTIONS for name in options.option_names(kind)}
    assert names <= {field.name for field in dataclasses.fields(Job)}
    assert names <= set(FLAGS)
    flags = get_type_hints(RunFlags, include_extras=True)
    parts = [hint.__origin__ for hint in flags.values() if hasattr(hint, "__origin__")]
    found = {f.name for p in parts if dataclasses.is_dataclass(p) for f in dataclasses.fields(p)}
    assert names == found


def test_every_option_says_what_it_is_and_for_whom() -> None:
    found = [field for kind in OPTIONS for field in dataclasses.fields(kind)]
    assert all(len(field.metadata["help"]) > 10 for field in found)
    assert {kind for kind in kinds() if options.is_options(kind)} == set(OPTIONS)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"batch_size": 0}, "batch-size is 0; expected 1 to 100000"),
        ({"timeout": 0.0}, "timeout is 0; expected 0.001 to 86400"),
        ({"concurrency": 10_001}, "concurrency is 10001; expected 1 to 10000"),
    ],
)
def test_limits_hold(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(sayso.InputError, match=said):
        check_types(ModelOptions(**changed), flags=True)
    check_types(ModelOptions(), flags=True)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"batch_size": "4"}, "batch_size is '4'; expected a whole number"),
        ({"batch_size": True}, "batch_size is True; expected a whole number"),
        ({"device": 0}, "device is 0; expected a text"),
        ({"timeout": "9"}, "timeout is '9'; expected a number"),
        ({"end_loops": 1}, "end_loops is 1; expected True or False"),
    ],
)
def test_types_hold(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(sayso.InputError, match=said):
        check_kinds(ModelOptions(**changed))
    check_kinds(ModelOptions(timeout=9, end_loops=False))


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
    assert set(get_type_hints(RunKeywords)) < set(shown)
    assert shown["split"].default == "test"
    assert shown["judge_batch"].default == "item"
    assert "given" not in shown
