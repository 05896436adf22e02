"""pytest: one test for each assertion about a run, from a file ``sayso.ini`` or from a marker.

    [gate]                                     @pytest.mark.sayso(
    run = runs/gate                                "runs/gate", "J[short] >= .2", "missing <= 2%"
    assert =                                   )
        J[short] >= .2                         def test_gate(): ...
        missing <= 2%

An assertion that does not hold fails. One that cannot be decided yet passes with a warning; with
``--sayso-strict`` it fails. Where nothing is decided (a mistake, or sayso failed) it fails, and the
exit code is 2. Nothing of sayso is loaded until a test of it runs.
"""

from __future__ import annotations

import configparser
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sayso.later import Later

if TYPE_CHECKING:
    from sayso.assertions import written
else:  # loaded when an assertion is tested
    written = Later("sayso.assertions.written")

FILE = "sayso.ini"
MARKER = "sayso"
ARGUMENT = "sayso_assertion"
KEYS = ("run", "assert", "base", "allow_cache", "allow")
#: verdict and sentence of each assertion, by what was asserted together
_Checked = dict[str, dict[str, tuple[str, str]]]
CHECKED = pytest.StashKey[_Checked]()


class SaysoWarning(pytest.PytestWarning):
    """An assertion that cannot be decided yet."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--sayso-strict``."""
    parser.getgroup("sayso").addoption(
        "--sayso-strict",
        action="store_true",
        default=False,
        help="an assertion about a run that cannot be decided yet fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(run, *assertions, base=None, allow_cache=False, allow=()): assertions about a "
        "run of sayso, a test for each",
    )


# ---- sayso.ini


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file ``sayso.ini``."""
    if file_path.name != FILE:
        return None
    found: pytest.Collector = AssertionFile.from_parent(parent, path=file_path)
    return found


class AssertionFile(pytest.File):
    """A file ``sayso.ini``: a section for each run, an item for each of its assertions."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the assertions of every section."""
        reader = configparser.ConfigParser(interpolation=None)
        try:
            reader.read_string(self.path.read_text(encoding="utf-8-sig"), source=str(self.path))
        except (configparser.Error, UnicodeDecodeError, OSError) as error:
            raise self.CollectError(f"{self.path}: {' '.join(str(error).split())}") from None
        if not reader.sections():
            raise self.CollectError(f"{self.path}: no section; expected [NAME], run and assert")
        for section in reader.sections():
            yield from self._of(section, dict(reader[section]))

    def _of(self, section: str, given: dict[str, str]) -> Iterator[pytest.Item]:
        unknown = [key for key in given if key not in KEYS]
        texts = [text.strip() for text in given.get("assert", "").splitlines() if text.strip()]
        said = given.get("allow_cache", "no")
        cache = configparser.ConfigParser.BOOLEAN_STATES.get(said.lower())
        if unknown or not given.get("run") or not texts or cache is None:
            what = f"unknown key {unknown[0]!r}" if unknown else "no run, or nothing to assert"
            what = f"allow_cache is {said!r}, expected yes or no" if cache is None else what
            raise self.CollectError(
                f"{self.path}: section [{section}]: {what}; expected run = FOLDER, and assert = "
                f"with an assertion in each line; known keys: {', '.join(KEYS)}"
            )
        folder = self.path.parent
        base = given.get("base")
        claims = {
            "run": str(folder / given["run"]),
            "assertions": tuple(texts),
            "base": None if base is None else str(folder / base),
            "allow_cache": cache,
            "allow": tuple(given.get("allow", "").replace(",", " ").split()),
        }
        for text in texts:
            item: AssertionItem = AssertionItem.from_parent(self, name=f"{section}: {text}")
            item.claims, item.text = claims, text
            yield item


class AssertionItem(pytest.Item):
    """One assertion."""

    claims: dict[str, Any]
    text: str

    def runtest(self) -> None:
        """Decide it."""
        decide_test(self, self.claims, self.text)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the assertion stands."""
        return self.path, None, self.name


# ---- the marker


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each assertion of a marker."""
    marker, *others = [*metafunc.definition.iter_markers(MARKER), None]
    if marker is None:
        return
    if others != [None]:
        pytest.fail(
            f"{metafunc.definition.nodeid}: several @pytest.mark.{MARKER}; put all assertions of a "
            "run into one, and those of another run on a test of its own",
            pytrace=False,
        )
    unknown = [key for key in marker.kwargs if key not in KEYS[2:]]
    if len(marker.args) < 2 or unknown:
        pytest.fail(
            f"{metafunc.definition.nodeid}: @pytest.mark.{MARKER} needs a run folder and at least "
            f"one assertion; by name it takes {', '.join(KEYS[2:])}{', not '.join(['', *unknown])}",
            pytrace=False,
        )
    if ARGUMENT not in metafunc.fixturenames:
        metafunc.fixturenames.append(ARGUMENT)
    texts = [str(text) for text in marker.args[1:]]
    metafunc.parametrize(ARGUMENT, texts, ids=texts)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Decide the assertion of a marked test before its body runs."""
    marker = item.get_closest_marker(MARKER)
    params = getattr(getattr(item, "callspec", None), "params", {})
    if marker is None:
        return
    if ARGUMENT not in params:  # unittest.TestCase
        pytest.fail(f"@pytest.mark.{MARKER} needs a test function or a plain class", pytrace=False)
    run, *texts = marker.args
    claims = {"run": str(run), "assertions": tuple(map(str, texts)), **marker.kwargs}
    decide_test(item, claims, params[ARGUMENT])


def decide_test(item: pytest.Item, claims: dict[str, Any], text: str) -> None:
    """Fail where an assertion does not hold; warn where it cannot be decided yet.

    All assertions of a run are decided together, once.
    """
    kept: _Checked = item.config.stash.setdefault(CHECKED, {})
    key = repr(sorted(claims.items()))
    if key not in kept:
        kept[key] = written.verdict_lines(claims)
    verdict, shown = kept[key][" ".join(text.split())]
    if verdict == "error":
        item.user_properties.append((MARKER, verdict))
    if verdict in ("does not", "error") or (
        verdict == "cannot say yet" and item.config.getoption("--sayso-strict")
    ):
        pytest.fail(shown, pytrace=False)
    if verdict == "cannot say yet":
        warnings.warn(SaysoWarning(shown), stacklevel=2)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End with exit code 2 where nothing was decided, as ``sayso assert`` does."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter is not None else {}
    failed = [report for kind in ("failed", "xfailed") for report in stats.get(kind, ())]
    if any(dict(report.user_properties).get(MARKER) == "error" for report in failed):
        session.exitstatus = 2
