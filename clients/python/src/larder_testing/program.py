"""The program `larder`, which a wheel of `script/release` has inside."""
from __future__ import annotations

import os
import pathlib
import sys

_INSIDE = pathlib.Path(__file__).parent / "program/larder"


def executable() -> str:
    """The program to start: that of `LARDER_EXECUTABLE`, the one inside this package, or the one on the path."""
    return os.environ.get("LARDER_EXECUTABLE") or (str(_INSIDE) if _INSIDE.exists() else "larder")


def main() -> None:
    """The command `larder` of the wheel."""
    os.execv(_INSIDE, [str(_INSIDE), *sys.argv[1:]])
