"""A page in a real browser, without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


def started() -> Iterator[Any]:
    """Start the Chromium of this machine; a skip where it or playwright is missing."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium on this machine")
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


def opened(browser: Any, folder: Path, **options: object) -> Any:
    """A page without a network that keeps what it says and asks for in ``page.said``."""
    context = browser.new_context(offline=True, **options)
    page = context.new_page()
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("dialog", lambda dialog: (page.said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda r: page.said.append(r.url) if r.url[:5] != "file:" else None)
    page.goto((folder / "report.html").resolve().as_uri())
    return page
