# SPDX-License-Identifier: Apache-2.0
"""The program that a wheel carries, and the version that it has."""

import os
import signal
import subprocess
import sys
from pathlib import Path

VERSION = "0.1.0"
OWN = Path(__file__).parent / "bin" / ("graphcloak.exe" if os.name == "nt" else "graphcloak")


def main() -> None:
    """The command graphcloak: the program takes its place, and on Windows its exit code."""
    command = [str(OWN), *sys.argv[1:]]
    os.environ.pop("GRAPHCLOAK_BINARY", None)  # no setting of the program
    if os.name == "posix":
        os.execv(OWN, command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the program by itself
    sys.exit(subprocess.run(command).returncode)
