"""``python -m believer`` is the command ``believer``."""

import sys

from believer.cli import main

if __name__ == "__main__":
    sys.exit(main())
