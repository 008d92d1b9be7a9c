"""The command: `acp-client`, which is the same as `python -m acp_client`.

Its libraries are the extra `cli`. Without them it prints what to install.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

_NEEDED = ("click", "rich")


def main() -> int:
    """Run the command line; return the exit status."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        names = " and ".join(missing)
        sys.stderr.write(
            f"acp-client: the command line needs {names}: pip install 'acp-client-state[cli]'\n"
        )
        return 2
    from ._cli import run  # what it imports is there only with the extra

    return run()


if __name__ == "__main__":
    sys.exit(main())
