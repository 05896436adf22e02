"""The rules of the house that a test can hold (CONTRIBUTING.md, "The house")."""

from __future__ import annotations

import ast
import dataclasses
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from cyclopts import App

from sayso import cli
from sayso.protocols import PROTOCOLS
from sayso.protocols.protocol import Protocol, Run

SRC = Path(__file__).parent.parent / "src" / "sayso"

#: packages from the ground up: each may import those before it, and itself
LAYERS = (
    "version",
    "keys",
    "addresses",
    "records",
    "metric",
    "harmless",
    "later",
    "plugins",
    "options",
    "keywords",
    "progress",
    "processes",
    "metrics",
    "prompts",
    "storage",
    "engines",
    "datasets",
    "retrieval",
    "answers",
    "judges",
    "scores",
    "report",
    "protocols",
    "runs",
    "people",
    "score_files",
    "checks",
    "train",
    "studies",
    "guard",
    "assertions",
    "wikidata",
    "inspect_ai_tools",
    "cli",
    "__main__",
    "sayso",
)
#: packages that stand side by side, though one comes first in the list
APART = {
    ("score_files", "checks"),
    ("score_files", "train"),
    ("checks", "train"),
    ("wikidata", "judges"),
    ("wikidata", "runs"),
    ("wikidata", "protocols"),
    ("wikidata", "train"),
    ("score_files", "studies"),
    ("guard", "checks"),
    ("guard", "train"),
    ("guard", "studies"),
    ("wikidata", "guard"),
    ("checks", "studies"),
    ("train", "studies"),
    ("wikidata", "studies"),
    ("score_files", "assertions"),
    ("checks", "assertions"),
    ("train", "assertions"),
    ("studies", "assertions"),
    ("wikidata", "assertions"),
    ("inspect_ai_tools", "score_files"),
    ("inspect_ai_tools", "train"),
    ("inspect_ai_tools", "studies"),
    ("inspect_ai_tools", "wikidata"),
}
#: imports inside functions: what is heavy, or above, is looked up when it is wanted
DOORS = {
    ("sayso.engines", "sayso.engines.hf.encoders"): "open_classifier, open_token_vectors",
    ("sayso.report", "sayso.protocols"): "sayso.report.write(run): what it shows is the protocol's",
}
#: modules that import each other in a circle, and through which: imports for types, in functions
#: and by name count too
CIRCLES = {
    "sayso.engines": "open_model opens each engine, and engines share what it knows of names",
}
#: where a protocol may be called by its name, besides its own package and PROTOCOLS
NAMING = {
    "protocols/__init__.py": "PROTOCOLS itself",
    "runs/run.py": "sayso.factuality is a run of self_known",
    "runs/texts.py": "texts on record are read as self_known reads a model's",
    "runs/draws.py": "further draws of uncle's questions, whose claims self_known checks",
    "train": "training starts from an uncle run and is measured by uncle",
    "guard/labeled.py": "a guard is fitted on a run that computes scores of answers",
    "checks/judge.py": "whoever reads hedges is checked too",
    "checks/model.py": "says what of a protocol falls away",
    "inspect_ai_tools": "its scorers count abstaining and right answers as selective does",
}


def name_of(path: Path) -> str:
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(SRC.rglob("*.py"))}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def layer_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "sayso"


def _loaded_late(module: str) -> Iterator[str]:
    """Yield what a module loads by its name: through ``Later`` and ``import_module``.

    A name stands written out, behind ``__name__``, or in a table of the module.
    """
    tree = tree_of(MODULES[module])
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and call.args and isinstance(call.func, ast.Name)):
            continue
        if call.func.id not in ("Later", "import_module"):
            continue
        match call.args[0]:
            case ast.Constant(value=str(name)):
                yield name
            case ast.JoinedStr(values=[ast.FormattedValue(value=ast.Name("__name__")), end]):
                yield module + ast.literal_eval(end)
            case ast.JoinedStr():
                raise AssertionError(f"{module}:{call.lineno}: the name of a module is computed")
            case _:
                texts = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant))
                yield from (text.partition(":")[0] for text in texts if isinstance(text, str))


@cache
def imports(module: str) -> tuple[tuple[str, bool], ...]:
    """Return (imported module of ours, by a statement inside a function?) of a module.

    Imports for types and modules that are loaded by name are imports too.
    """
    tree = tree_of(MODULES[module])
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    found = [(name, False) for name in _loaded_late(module) if name in MODULES]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            origin = node.module or ""
            names = [f"{origin}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else origin for name in names]
        found += [(name, id(node) in inside) for name in names if name in MODULES]
    return tuple(dict.fromkeys(one for one in found if one[0] != module))


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downward(module: str) -> None:
    own = layer_of(module)
    assert own in LAYERS, f"{own} is in no layer: give it a place here and in CONTRIBUTING.md"
    if own == "sayso":
        return  # the public names
    for other, _ in imports(module):
        if (module, other) in DOORS:
            continue
        theirs = layer_of(other)
        assert LAYERS.index(theirs) <= LAYERS.index(own), f"{module} imports {other}, above it"
        assert (theirs, own) not in APART, f"{module} imports {other}, which stands beside it"
        assert (own, theirs) not in APART, f"{module} imports {other}, which stands beside it"


def test_no_module_hides_one_of_the_standard_library() -> None:
    """A script that is started in ``src/sayso`` finds our modules first."""
    ours = {part.stem for part in SRC.iterdir() if part.is_dir() or part.suffix == ".py"}
    assert not ours & sys.stdlib_module_names


def test_imports_inside_functions_are_doors() -> None:
    hidden = {(m, other) for m in MODULES for other, inside in imports(m) if inside}
    assert hidden == DOORS.keys()
    assert len(DOORS) <= 2


def _reached(module: str) -> set[str]:
    """Return all that a module imports, and that these import."""
    reached: set[str] = set()
    left = [module]
    while left:
        new = {other for other, _ in imports(left.pop())} - reached
        reached |= new
        left += new
    return reached


def test_no_modules_import_each_other_in_a_circle() -> None:
    reached = {module: _reached(module) for module in MODULES}
    circles = {frozenset(o for o in reached[m] if m in reached[o]) for m in MODULES} - {frozenset()}
    for circle in circles:
        assert circle & CIRCLES.keys(), sorted(circle)
    assert len(circles) == len(CIRCLES)


def test_protocols_do_not_import_each_other() -> None:
    for module in MODULES:
        own = module.split(".")[2:3] if module.startswith("sayso.protocols.") else []
        for other, _ in imports(module):
            theirs = other.split(".")[2:3] if other.startswith("sayso.protocols.") else []
            if (
                own
                and theirs
                and (MODULES[f"sayso.protocols.{theirs[0]}"].parent.name == theirs[0])
            ):
                assert own == theirs or module == "sayso.protocols", f"{module} imports {other}"


@pytest.mark.parametrize("module", MODULES)
def test_a_protocol_is_named_only_where_it_is_meant(module: str) -> None:
    path = MODULES[module].relative_to(SRC).as_posix()
    packages = {p.name for p in (SRC / "protocols").iterdir() if (p / "settings.py").exists()}
    own = path.split("/")[1] if path.startswith("protocols/") and path.count("/") > 1 else ""
    if any(path == place or path.startswith(f"{place}/") for place in NAMING):
        return
    named = {other.split(".")[2] for other, _ in imports(module) if other.count(".") > 1} & packages
    named = {
        n for n in named if any(o.startswith(f"sayso.protocols.{n}") for o, _ in imports(module))
    }
    assert named <= {own}, f"{path} imports {named}: let it take a value of PROTOCOLS"


def test_folders_hold_about_a_dozen_modules() -> None:
    for folder, number in Counter(path.parent for path in MODULES.values()).items():
        assert number <= 17, f"{folder.relative_to(SRC)} holds {number} modules"


def test_no_module_stands_beside_its_own_prefix() -> None:
    stems = {(path.parent, path.stem) for path in MODULES.values()}
    for folder, stem in stems:
        longer = [s for f, s in stems if f == folder and s.startswith(f"{stem}_")]
        assert not longer, f"{stem}.py beside {longer}: a package, or one module"


#: what may leave one day: the modules of each extension
EXTENSIONS = {
    "train": "train/**/*.py",
    "wikidata": "wikidata/*.py",
    "inspect_ai_tools": "inspect_ai_tools/*.py",
    "gguf": "engines/gguf/*.py",
    "ray": "engines/ray/*.py",
    "vllm": "engines/vllm.py",
}
#: the names that extensions import from the rest, by module: a table that only gets shorter
FENCE: dict[str, dict[str, str]] = {
    "train": {
        "sayso.datasets": "load_dataset subset",
        "sayso.datasets.catalogue": "is_topic",
        "sayso.datasets.dataset": "Dataset",
        "sayso.datasets.own_table": "name_with_columns",
        "sayso.datasets.short_answers": "SETS",
        "sayso.engines": "check_model_name",
        "sayso.engines.engine": "Engine check_engine",
        "sayso.engines.hf.files": "error_reason unpack",
        "sayso.engines.hf.weights": "open_adapter open_causal",
        "sayso.engines.named": "PACKAGED",
        "sayso.harmless": "block line",
        "sayso.judges.claims": "claim_blocks claims has_verb",
        "sayso.judges.contradiction": "contradicts",
        "sayso.judges.decisiveness": "decisiveness",
        "sayso.judges.english.markup": "parts",
        "sayso.judges.model.numbered": (
            "JudgeTask NumberedReader TextBlock TextOutcome numbered_blocks"
        ),
        "sayso.judges.support": "LlmSupport",
        "sayso.metric": "FORMS",
        "sayso.options": "check_values option",
        "sayso.processes": "wait_passively",
        "sayso.progress": "Progress",
        "sayso.prompts": "check_folder prompt_hash",
        "sayso.prompts.fence": "Field",
        "sayso.protocols.uncle": "UNCLE",
        "sayso.protocols.uncle.prompts": "instructions",
        "sayso.protocols.uncle.report": "TILES alignment_section alignment_table",
        "sayso.protocols.uncle.seeds": "Frame SeedSide compare_methods frame_of_run side_of_run",
        "sayso.protocols.uncle.settings": "Settings",
        "sayso.records": (
            "Claim Estimate Generation InputError Passage Question Request Signature "
            "Verdict content_id is_blank signature_of"
        ),
        "sayso.report.answers": "LABELS",
        "sayso.report.charts": "Drawing NARROW chart_row forest_plot point series_chart",
        "sayso.report.figures": "Figure figures_in",
        "sayso.report.numbers": ("MINUS p_text percentage_points plain_number"),
        "sayso.report.opening": "ChosenExamples PageOpening example invented_model",
        "sayso.report.number_tables": "Entry NumberTable grid",
        "sayso.report.page": "environment sheet_page",
        "sayso.report.sheet": "Chart Section Sheet Tile render_sheet",
        "sayso.runs.asking": "CachedEngine REQUEST_SETTINGS",
        "sayso.runs.costs": "dollars is_local open_priced",
        "sayso.runs.draws": "PARAGRAPHS ask_draws knowledge_of",
        "sayso.runs.job": "Job parts_of",
        "sayso.runs.measure": "entities_of load_run",
        "sayso.runs.result": "Result",
        "sayso.runs.run": "execute_job finished_result open_job",
        "sayso.runs.stages": "now timed",
        "sayso.runs.tools": "KnowledgeSources",
        "sayso.storage.atomic": "WRITER disk_errors one_writer refuse_links replacing",
        "sayso.storage.cache": "Cache FILE_NAME default_cache_folder",
        "sayso.storage.run_folder": "Manifest RunFolder",
        "sayso.version": "__version__",
    },
    "wikidata": {
        "sayso.datasets.uncle": "plain_answers published_record",
        "sayso.engines": "check_proxies",
        "sayso.engines.engine": "Engine",
        "sayso.engines.openai.reply": "retry_after",
        "sayso.harmless": "printable",
        "sayso.processes": "worker_pool",
        "sayso.prompts": "load_prompt",
        "sayso.records": "Gold InputError Question ask content_id",
        "sayso.storage.atomic": "disk_errors replacing wait_for_lock",
        "sayso.storage.yaml_file": "parse_yaml yaml_text",
        "sayso.version": "__version__",
    },
    "inspect_ai_tools": {
        "sayso.datasets": "REAL load_dataset",
        "sayso.datasets.tools.inspect": "ANSWERABLE QUESTION",
        "sayso.engines": "open_model",
        "sayso.engines.engine": "Engine",
        "sayso.engines.inspect_models": "HOME ModelEngine generation_of",
        "sayso.judges.judge": "Item Judge WITHHELD credit_withholding",
        "sayso.judges.model.judge": "LlmJudge",
        "sayso.judges.model.replies": "PROBLEMS",
        "sayso.judges.rules.judge": "RulesJudge",
        "sayso.metrics.intervals": "bootstrap_share",
        "sayso.options": "PromptSet change",
        "sayso.people.joined": "joined_verdict",
        "sayso.people.labels": "LabeledItem read_labels",
        "sayso.protocols": "protocol_named protocol_of",
        "sayso.protocols.answer_table": "answer_records",
        "sayso.protocols.declared": "Rows estimates_of",
        "sayso.protocols.pool": "cluster_names",
        "sayso.protocols.probes": "is_known",
        "sayso.protocols.protocol": "Ask Protocol",
        "sayso.protocols.selective.run": "StanceReader",
        "sayso.protocols.selective.measure": "declared_gap declared_worth",
        "sayso.protocols.selective.rows": "outcome ungraded",
        "sayso.protocols.uncle.measure": "rates_of_verdicts",
        "sayso.records": (
            "Estimate Generation Gold InputError Message Question Request Verdict "
            "content_id slice_text"
        ),
        "sayso.runs.measure": "load_run",
        "sayso.runs.stages": "FolderRun",
        "sayso.storage.atomic": "disk_errors replacing",
        "sayso.storage.outputs": "check_output",
        "sayso.storage.run_folder": "Manifest",
        "sayso.version": "__version__",
    },
    "gguf": {
        "sayso.engines.engine": "Capabilities Counts read_options",
        "sayso.engines.local.decode": "AHEAD BatchLimits DecodeJob PrefixCache Slots",
        "sayso.engines.local.draws": "Shaping",
        "sayso.engines.local.engine": "LocalEngine WINDOW",
        "sayso.engines.local.files": "file_hashes gguf_file",
        "sayso.engines.local.records": "Arrays Given check_arrays",
        "sayso.engines.local.trial": "try_template",
        "sayso.engines.named": "PACKAGED limits_of",
        "sayso.harmless": "printable",
        "sayso.processes": "cores wait_passively",
        "sayso.records": "InputError",
    },
    "ray": {
        "sayso.engines": "open_classifier open_model",
        "sayso.engines.engine": "Capabilities Classifier Counts Engine EngineWrapper",
        "sayso.records": "Generation InputError Request request_key",
        "sayso.storage.atomic": "make_private one_writer place_inside",
        "sayso.storage.cache": "Cache ReplyOrigin StoredReply decode_reply encode_reply unbind",
        "sayso.version": "__version__",
    },
    "vllm": {
        "sayso.engines.engine": "Capabilities Counts entropy_floor read_options",
        "sayso.engines.hf.engine": "HfEngine open_hf",
        "sayso.engines.local.decode": "DecodeJob Raw",
        "sayso.engines.local.records": "answered_record jobs_of unanswered_record",
        "sayso.engines.local.text": "prompt_notices",
        "sayso.records": "Generation InputError Request",
    },
}
#: how many they are, a name of several extensions counted once (299 of 96 modules at first)
FENCED = 205


def _fenced(extension: str) -> dict[str, set[str]]:
    """Return the names that an extension imports from the rest, by module."""
    own = set(SRC.glob(EXTENSIONS[extension]))
    found: dict[str, set[str]] = {}
    for path in own:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import):
                whole = [alias.name for alias in node.names if alias.name.startswith("sayso")]
                assert not whole, f"{path.relative_to(SRC)} imports {whole}: name what it uses"
            if not isinstance(node, ast.ImportFrom):
                continue
            origin = node.module or ""
            if origin.partition(".")[0] == "sayso" and MODULES[origin] not in own:
                names = {alias.name for alias in node.names}
                whole = [name for name in names if f"{origin}.{name}" in MODULES]
                assert not whole, f"{path.relative_to(SRC)} imports {whole}: name what it uses"
                found.setdefault(origin, set()).update(names)
    return found


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_an_extension_imports_the_names_in_its_fence(extension: str) -> None:
    found, fence = _fenced(extension), {m: set(n.split()) for m, n in FENCE[extension].items()}
    new = {m: sorted(names - fence.get(m, set())) for m, names in found.items()}
    assert not any(new.values()), f"outside the fence: {new}"
    unused = {m: sorted(names - found.get(m, set())) for m, names in fence.items()}
    assert not any(unused.values()), f"nobody imports these any more: {unused}"


def test_the_fence_only_gets_lower() -> None:
    held = {(m, n) for fence in FENCE.values() for m, names in fence.items() for n in names.split()}
    assert len(held) <= FENCED <= len(held) + 3


#: functions of more than 60 lines, with the reason
LONG = {
    "score_files/score.py:score_file": "a public function; its options are documented one by one",
    "wikidata/dump.py:read_dump": "the three passes over a dump, one after the other",
}
#: functions of more than 7 parameters, with the reason
WIDE = {
    "assertions/check.py:check_assertions": "a public function: the flags of sayso assert",
    "guard/guard.py:__call__": "a public call: the evidence on one answer, by keyword",
    "checks/judge.py:judge_check": "a public function: the flags of sayso judge-check",
    "inspect_ai_tools/tasks.py:uncle": "a task of Inspect: what -T can name",
    "judges/model/judge.py:__init__": "a public judge: how it asks, by keyword",
    "metrics/intervals.py:bootstrap": "a public metric: every one is a choice of the resampling",
    "metrics/intervals.py:bootstrap_difference": "as bootstrap, with two sides",
    "report/charts.py:forest_plot": "rows of points of any page, by keyword",
    "report/number_tables.py:grid": "a table of any page, terminal or file, by keyword",
    "report/page.py:sheet_page": "a page of any sheet, by keyword",
    "options.py:option": "what a field says of itself, by keyword",
    "runs/costs.py:open_priced": "how a model is opened, and what it may cost",
    "runs/run.py:factuality": "a public function: how texts are measured, by keyword",
    "runs/run.py:run": "a public function: the flags of sayso run",
    "runs/tools.py:__init__": "the flags that say which tools scores may use",
    "score_files/score.py:score": "a public function: arrays of one answer, by keyword",
    "score_files/score.py:score_file": "a public function: the flags of sayso score",
    "studies/__init__.py:study": "a public function: the flags of sayso study",
    "studies/joined.py:__init__": "how a study is computed, and what its file says, by keyword",
    "train/recipes/__init__.py:make": "what rows are made of, by whom, and how many",
    "train/training.py:fit": "a public function: what is trained, where to, how it is judged",
}


def _functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in MODULES.values():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(SRC).as_posix()}:{node.name}", node


def test_long_functions_have_a_reason() -> None:
    long = {name for name, node in _functions() if (node.end_lineno or 0) - node.lineno + 1 > 60}
    assert long == LONG.keys()


def test_functions_of_many_parameters_have_a_reason() -> None:
    def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
        named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return sum(argument.arg not in ("self", "cls") for argument in named)

    assert {name for name, node in _functions() if parameters(node) > 7} == WIDE.keys()


#: modules that one other imports, with the reason; faces of packages and members of a table that
#: names them once (a protocol's parts, scores, question sets, engines, formats of answers) are such
#: by design
ALONE = {
    "sayso.keywords": "written from the options of a run",
    "sayso.protocols.coherence": "signs that a model does not answer at all, read of any run",
    "sayso.protocols.faithfulness.asks": "what is asked, beside the steps that ask it",
    "sayso.guard.labeled": "labeled answers of a run or a file, which a guard is fitted on",
    "sayso.judges.rules.slots": "which value of a text answers, apart from which agrees",
    "sayso.assertions.grammar": "how an assertion is written, apart from how it is decided",
    "sayso.answers.bertscore": "an answer metric that needs a model",
    "sayso.checks.silence": "a set of answers that a study reads too",
    "sayso.cli.running": "what the commands of runs do, loaded when one is called",
    "sayso.cli.studying": "what sayso study does, loaded when it is called",
    "sayso.datasets.long_texts": "texts that exist; a run of self_known reads them",
    "sayso.metrics.correction.pairs": "sums over pairs of rows, a subject of its own",
    "sayso.engines.gguf.cache": "what texts have in common is computed once, a subject of its own",
    "sayso.engines.gguf.sampling": "what hf.sampling does, in numpy",
    "sayso.engines.gguf.tokenizer": "a file's vocabulary and template, a subject of its own",
    "sayso.engines.hf.force": "reading given text, a subject of its own",
    "sayso.engines.local.watch": "a limit on the time of a template, a subject of its own",
    "sayso.guard.rates_page": "the page of sayso watch, loaded where one is written",
    "sayso.guard.watch": "what the command calls",
    "sayso.guard.fit": "what the command calls",
    "sayso.judges.rules.mentions": "words that an answer mentions and does not mean",
    "sayso.engines.openai.batches": "batch files, a subject of its own",
    "sayso.engines.ray.classifier": "comparing meanings in actors, apart from asking",
    "sayso.judges.english.imperatives": "which sentences tell a reader to do something",
    "sayso.judges.rules.natural_questions": "word order, apart from who makes questions",
    "sayso.report.scatter": "points of many answers, apart from the layouts that draw them",
    "sayso.studies.tables": "the tables of a study, apart from its page",
    "sayso.people.sampling": "which items are drawn, apart from what is done with them",
    "sayso.people.server": "starlette and uvicorn, loaded only where somebody labels",
    "sayso.protocols.uncle.seeds": "UNCLE over training seeds: numbers, apart from who trains",
    "sayso.protocols.self_known.marked": "texts to read, apart from the numbers",
    "sayso.protocols.prompt_folder": "what sayso prompts new calls",
    "sayso.protocols.selective.examples": "which answers stand at the top of a page",
    "sayso.protocols.selective.board": "a figure of many systems, with its labels",
    "sayso.train.draws": "the draws that rows are made of",
    "sayso.train.export": "formats of other trainers",
    "sayso.train.proof": "numbers and tests of trained models, apart from training them",
    "sayso.train.trainers": "torch, loaded only where a model is trained",
    "sayso.wikidata.build": "what the command calls",
    "sayso.wikidata.dump": "what the command calls",
    "sayso.wikidata.passes": "one pass over a part of a dump, run by workers",
    "sayso.wikidata.quality": "what sayso data check calls",
    "sayso.wikidata.sparql": "what the command calls",
}


def test_modules_with_one_importer_have_a_reason() -> None:
    importers: dict[str, set[str]] = {module: set() for module in MODULES}
    for module in MODULES:
        for other, _ in imports(module):
            importers[other].add(module)
    tables = {"sayso.datasets", "sayso.datasets.answer_files", "sayso.engines",
              "sayso.metrics.correction", "sayso.scores", "sayso.train.recipes"}  # fmt: skip
    alone = {
        module
        for module, by in importers.items()
        if len(by) == 1
        and MODULES[module].name != "__init__.py"
        and not by & tables
        # a protocol's parts, which its package names
        and not any(one.startswith("sayso.protocols.") and one.count(".") == 2 for one in by)
    }
    assert alone == ALONE.keys()
    assert len(ALONE) < 0.12 * len(MODULES)


def test_no_two_test_files_have_one_name() -> None:
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert not [name for name, number in names.items() if number > 1]


def test_the_judge_does_not_know_the_built_in_world() -> None:
    for path in (SRC / "judges").rglob("*.py"):
        assert "builtin" not in path.read_text(encoding="utf-8"), path


#: lines of Python in each package, as ``ruff format`` writes them; modules of the top are "sayso".
#: A budget only falls: a package that needs more takes it from another in the same commit.
BUDGET = {
    "protocols": 19_107,
    "judges": 17_156,
    "engines": 12_552,
    "train": 6_765,
    "metrics": 9_385,
    "runs": 7_087,
    "datasets": 5_890,
    "report": 4_275,
    "cli": 3_691,
    "wikidata": 4_495,
    "people": 3_987,
    "guard": 3_905,
    "score_files": 2_992,
    "studies": 2_242,
    "scores": 3_108,
    "storage": 2_597,
    "checks": 1_741,
    "retrieval": 1_576,
    "sayso": 2_145,
    "assertions": 1_692,
    "inspect_ai_tools": 1_350,
    "prompts": 1_095,
    "answers": 820,
}
#: how far a budget may stand above the lines that are there
SLACK = 300
#: lines and statements of ``src`` when the budgets began: statements fall with the lines, so that
#: nobody saves lines by dropping docstrings
BEGAN = (127_686, 71_735)
#: lines of templates, style sheets and scripts; ``# fmt:`` marks; words of README and of docs
PAGES, MARKS, README_WORDS, DOCS_WORDS = 1_127, 222, 700, 78_000
#: flags that each command has, --set and --config among them; none has more than 25
FLAGS = {
    "run": 22,
    "run uncle": 25,
    "run selective": 25,
    "run faithfulness": 25,
    "run self_known": 25,
    "measure": 4,
    "study": 25,
    "report": 3,
    "export": 4,
    "label": 14,
    "compare": 10,
    "assert": 8,
    "score": 23,
    "watch": 15,
    "guard fit": 18,
    "check": 5,
    "judge-check": 10,
    "agreement": 3,
    "data list": 3,
    "data show": 7,
    "data check": 6,
    "prompts new": 2,
    "build": 18,
    "index": 8,
    "train": 25,
}


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_packages_stay_within_their_budgets() -> None:
    lines = Counter[str]()
    for path in MODULES.values():
        package = path.relative_to(SRC).parts[0]
        lines[package if path.parent != SRC else "sayso"] += _lines(path)
    assert lines.keys() == BUDGET.keys()
    above = {name: n - BUDGET[name] for name, n in lines.items() if n > BUDGET[name]}
    assert not above, f"lines above the budget: {above}"
    loose = {name: n for name, n in lines.items() if n < BUDGET[name] - SLACK}
    assert not loose, f"lower these budgets to the lines that are there: {loose}"


def test_statements_fall_with_the_lines() -> None:
    lines = sum(_lines(path) for path in MODULES.values())
    statements = sum(
        isinstance(node, ast.stmt) for path in MODULES.values() for node in ast.walk(tree_of(path))
    )
    before_lines, before = BEGAN
    assert before - statements >= 0.8 * (before_lines - lines) * before / before_lines


def test_pages_marks_and_words_stay_within_their_budgets() -> None:
    root = SRC.parents[1]
    pages = [path for end in ("j2", "css", "js", "html") for path in SRC.rglob(f"*.{end}")]
    assert PAGES - SLACK <= sum(map(_lines, pages)) <= PAGES
    texts = [path.read_text(encoding="utf-8") for path in MODULES.values()]
    assert sum(text.count("# fmt:") for text in texts) <= MARKS
    read_me = (root / "README.md").read_text(encoding="utf-8").partition("```bibtex")[0]
    words = sum(re.search(r"\w", word) is not None for word in read_me.split())
    assert README_WORDS - SLACK <= words <= README_WORDS
    docs = sum(len(page.read_text(encoding="utf-8").split()) for page in root.glob("docs/**/*.md"))
    assert DOCS_WORDS - 10 * SLACK <= docs <= DOCS_WORDS


def _commands(app: App, above: tuple[str, ...] = ()) -> Iterator[tuple[str, App]]:
    for name in app:
        if not name.startswith("-"):
            command = app[name]
            if command.default_command is not None:
                yield " ".join((*above, name)), command
            yield from _commands(command, (*above, name))


def test_commands_have_no_more_flags_than_before_and_show_each() -> None:
    found = {}
    for name, command in _commands(cli.app):
        options = [a for a in command.assemble_argument_collection() if a.name.startswith("--")]
        assert all(option.show for option in options)
        found[name] = len(options)
    assert found == FLAGS
    assert max(FLAGS.values()) <= 25


def _loaded(code: str) -> set[str]:
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {line.split(".")[0] for line in done.stdout.splitlines()}


def test_protocols_know_little_of_a_run_and_commands_little_of_a_protocol() -> None:
    assert len([name for name in vars(Run) if name[0] != "_"]) <= 12
    assert len(dataclasses.fields(Protocol)) <= 17


def test_import_sayso_is_light() -> None:
    heavy = {"torch", "transformers", "pyarrow", "altair", "scipy", "inspect_ai"}
    assert not heavy & _loaded("import sayso")


def test_help_needs_not_even_numpy() -> None:
    code = (
        "import sayso.cli, contextlib, io\n"
        "with contextlib.redirect_stdout(io.StringIO()): sayso.cli.execute(['--help'])"
    )
    assert not {"numpy", "torch", "pyarrow", "altair", "inspect_ai"} & _loaded(code)


def test_a_constant_is_bound_once() -> None:
    """A second value under the same name replaces the first, also for code above it."""
    twice = []
    for path in MODULES.values():
        names = Counter(
            target.id
            for node in tree_of(path).body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        )
        twice += [f"{path.relative_to(SRC)}: {name}" for name, many in names.items() if many > 1]
    assert not twice


def test_contributing_names_places_that_exist() -> None:
    """In a row, a bare file name stands in the folder of the one before it."""
    text = (SRC.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Where do I find")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and "`" in line]
    assert len(rows) > 30
    lost = []
    for row in rows:
        folder = ""
        for place in re.findall(r"`([\w<>*.{},/-]+(?:/|\.\w+(?:\.j2)?))`", row.split("|")[2]):
            if "/" not in place:
                place = folder + place
            folder = place.rpartition("/")[0] + "/"
            pattern = place.replace("<name>", "*")
            if not any(list(base.glob(pattern)) for base in (SRC, SRC.parents[1])):
                lost.append(place)
    assert not lost


#: names that several modules may give a function: what every protocol answers to, and commands
SHARED_NAMES = {
    "what a protocol asks": "asked prompts prompts_signature instructions load_rows prompt_uses",
    "the steps of a protocol": "steps open_readers ask_revisions judge_answers",
    "what a protocol measures, and says of what it compares": "estimates cautions numbers "
    "study_notes",
    "how a protocol, a training, a study or scored answers are shown": "sheet read_answers opening "
    "examples part_label plain_sentence",
    "tables and figures of the papers": "layouts table1 table2 figure1 figure2 figure3",
    "a share of labels; a command, and what it calls": "agreement",
    "a command, and what it calls": "check compare export fit judge_check main measure score "
    "show study watch",
    "how next-token distributions are read, in torch and in numpy": "at_once entropies invert "
    "penalize pick read_logits record shape_weights",
    "one metric, with and without a model that is loaded": "bert_score",
}


def _named(kinds: tuple[type[ast.AST], ...]) -> dict[str, set[str]]:
    """Return each name of a class or public function with the modules that give it."""
    found: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        for node in tree_of(path).body:
            name = getattr(node, "name", "_")
            if isinstance(node, kinds) and (isinstance(node, ast.ClassDef) or name[0] != "_"):
                found.setdefault(name, set()).add(module)
    return found


def test_a_class_name_stands_once() -> None:
    """A reader who finds ``Answer`` must not have to ask which of nine it is."""
    several = {name for name, modules in _named((ast.ClassDef,)).items() if len(modules) > 1}
    assert several == {"Settings"}  # of each protocol


def test_a_function_name_stands_once_unless_it_is_an_interface() -> None:
    functions = _named((ast.FunctionDef, ast.AsyncFunctionDef))
    several = {name for name, modules in functions.items() if len(modules) > 1}
    shared = {name for names in SHARED_NAMES.values() for name in names.split()}
    assert several == shared


#: where no protocol and no number is known by its name
NAMELESS = ("inspect_ai_tools", "metrics/intervals.py", "people", "report", "runs", "studies")
#: strings that stand there though a protocol or a number is called so, with the reason
NAMELESS_WORDS = {
    ("inspect_ai_tools/__init__.py", "right_minus_wrong"): "what Inspect calls a metric of ours",
    ("inspect_ai_tools/logs.py", "asked"): "the field of a verdict and of an item",
    ("inspect_ai_tools/logs.py", "left_out"): "what of a run is not in its log",
    ("inspect_ai_tools/logs.py", "right_minus_wrong"): "what Inspect calls a metric of ours",
    ("inspect_ai_tools/metrics.py", "J"): "what Inspect calls a metric of ours",
    ("inspect_ai_tools/metrics.py", "right_minus_wrong"): "what Inspect calls a metric of ours",
    ("inspect_ai_tools/reading.py", "asked"): "the field of a verdict and of an item",
    ("people/agreement.py", "spearman"): "the coefficient that agreement of sureness is",
    ("people/labels.py", "asked"): "the field of a verdict and of an item",
    ("report/page.py", "facts"): "what the page says about how the run was made",
    ("report/page.py", "left_out"): "which protocols the page of several runs leaves out",
    ("report/terminal.py", "uncle"): "a word of a judge's signature: UNCLE's three labels",
    ("runs/costs.py", "asked"): "requests that were made",
    ("runs/tools.py", "asked"): "requests that were made",
    ("runs/tools.py", "forced"): "the stage of forced answers",
    ("studies/run.py", "left_out"): "the runs that a study leaves out",
}


@pytest.mark.parametrize(
    "path",
    [
        path
        for place in NAMELESS
        for path in (
            [SRC / place] if place.endswith(".py") else sorted((SRC / place).rglob("*.py"))
        )
    ],
    ids=lambda path: path.relative_to(SRC).as_posix(),
)
def test_no_protocol_and_no_number_is_known_by_name(path: Path) -> None:
    """What is special about a number stands in the table of its protocol (``sayso.metric``)."""
    place = path.relative_to(SRC).as_posix()
    names = {name for plan in PROTOCOLS.values() for name in plan.metrics}
    if place.startswith("report/"):
        names |= PROTOCOLS.keys()
    texts = {
        node.value
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    spoken = {word for text in texts for word in re.findall(r"\w+", text) if "_" in word}
    named = (texts | spoken) & names
    assert {name for name in named if (place, name) not in NAMELESS_WORDS} == set()
