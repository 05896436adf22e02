"""``python -m sayso`` is ``sayso``."""

from sayso.cli import main

if __name__ == "__main__":
    main()
