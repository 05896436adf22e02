"""``python -m sayso`` is ``sayso``."""

from __future__ import annotations

from sayso.cli import main

if __name__ == "__main__":
    main()
