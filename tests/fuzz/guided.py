"""The process of the guided engine: `python -m fuzz.guided TARGET [WORDS OF LIBFUZZER …]`.

The package must be imported under the eyes of atheris, so nothing here imports it before.
"""

from __future__ import annotations

import importlib
import sys


def main() -> None:
    """Hand this process over to atheris; it ends with the process."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["acp_client"]):
        targets = importlib.import_module("fuzz.targets")
    check = targets.TARGETS[sys.argv.pop(1)].check
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
