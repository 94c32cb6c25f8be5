# SPDX-License-Identifier: Apache-2.0
"""A driver that streams a part of the readings into a release, and waits to be killed: driver.py MASTER LAKE FOLDER"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from test_spark import RELEASE, SOURCES, session, tables

import graphcloak as g
from graphcloak import spark

master, home, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])


def half(chunks: Iterator[bytes]) -> Iterator[bytes]:
    for k, chunk in enumerate(chunks):
        yield chunk
        if k == 2:
            (folder / "half").touch()
            time.sleep(600)


with session(master) as s:
    _, _, column = tables(s, home, 4)
    g.GraphCloak(notebook=False).release(
        str(folder),
        plan=folder / "plan.json",
        output=folder / "release.json",
        key=home / "lake.key",
        signal=half(spark.signal(column)),
        **{**RELEASE, **SOURCES, "source_property": "heat"},
    )
