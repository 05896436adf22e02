"""``sayso label`` in a process of its own, as a person starts and a test kills it."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path


class LabelPage:
    """A running ``sayso label`` and the address that it printed."""

    def __init__(self, run: Path, *flags: str) -> None:
        command = [sys.executable, "-m", "sayso", "label", str(run), *flags]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/[\w-]{32}/", line)
        if found is None:
            self.process.kill()
            raise AssertionError(line + self.process.communicate()[1])
        self.address, self.port = found[0], int(found[1])

    def kill(self) -> None:
        """End it without a word, as a crash does."""
        self.process.kill()
        self.process.communicate()

    def end(self) -> tuple[int, str]:
        """End it as Ctrl+C does; return its exit code and what it said last."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=60)[1]
        return self.process.returncode, said


@contextlib.contextmanager
def label_page(run: Path, *flags: str) -> Iterator[LabelPage]:
    """Serve the page for a while."""
    page = LabelPage(run, *flags)
    try:
        yield page
    finally:
        if page.process.poll() is None:
            page.kill()
