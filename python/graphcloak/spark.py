# SPDX-License-Identifier: Apache-2.0
"""A graph and a private column of Spark. Executors need nothing but Spark, and the driver this package.

The program runs beside the driver. The graph is public and goes there once, by save(). The private column streams from the executors
through the driver into the program's standard input, by signal(), and is on no disk but, encrypted, on those of the executors. Noise
is drawn in the program, once and after the spend: Spark may run its tasks again as often as it likes.
"""

import csv
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import graphs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Without the first, blocks and shuffles lie on the disks of the executors as they are; without the second, they are sent so.
ENCRYPTION = ("spark.io.encryption.enabled", "spark.network.crypto.enabled")

CHUNK = 1 << 16  # bytes of CSV


def save(nodes: "DataFrame", relationships: "DataFrame", folder: str | os.PathLike[str]) -> Path:
    """Writes the public columns of a graph into a folder on the driver's disk, row by row, and returns it.

    nodes have the column id, relationships source and target; others are properties. Every column can be read by whoever reads the
    folder: leave the private one out. A folder that has a graph gets this one in its place, and keeps its ledger. While that is not
    whole it has no relationships, and the program refuses it.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tables = {"nodes.csv": nodes, "relationships.csv": relationships}
    try:
        for name, table in tables.items():
            with open(folder / (name + ".new"), "wb") as file:
                file.writelines(lines(table.columns, rows(table)))
        (folder / "relationships.csv").unlink(missing_ok=True)
        for name in tables:
            (folder / (name + ".new")).replace(folder / name)
    finally:
        for name in tables:
            (folder / (name + ".new")).unlink(missing_ok=True)
    return folder


def signal(readings: "DataFrame") -> Iterator[bytes]:
    """Returns what GraphCloak's run and release take as signal=: the rows of a private column, once.

    readings have the column id and one other, which source_property or measurement_property names: a number, or an array of them
    where a sensor reads at several times. Nodes without a row have no value. A session whose disks or connections are not encrypted
    raises ValueError.

    >>> gc.run("folder:town", source_property="leak", signal=signal(readings), epsilon=4, delta=1e-6)  # doctest: +SKIP
    """
    conf = readings.sparkSession.sparkContext.getConf()
    for name in ENCRYPTION:
        if str(conf.get(name, "false")).lower() != "true":
            raise ValueError(
                f"{name} is not true, and private values would lie open: start the session with spark.authenticate, "
                f"{' and '.join(ENCRYPTION)} set to true"
            )
    names = sorted(readings.columns, key=lambda name: name != "id")
    if len(names) != 2 or names[0] != "id":
        raise ValueError("readings want two columns: id, and the private one")
    return counted(names, rows(readings.select(names)))


def counted(names: list[str], found: Iterable[Any]) -> Iterator[bytes]:
    """Yields rows as CSV, and last a line with their number, without which the program takes nothing."""
    count = 0

    def each() -> Iterator[Any]:
        nonlocal count
        for row in found:
            if row[0] in (None, ""):
                raise ValueError("a reading has no id")
            count += 1
            yield row

    yield from lines(names, each())
    yield f",{count}\n".encode()


def rows(table: "DataFrame") -> Iterator[Any]:
    """Yields the rows of a table, of which the driver holds two partitions at most."""
    return table.toLocalIterator(prefetchPartitions=True)


def lines(names: list[str], found: Iterable[Any]) -> Iterator[bytes]:
    """Yields a table as the program's CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in found:
        writer.writerow(map(graphs.text, row))
        if out.tell() >= CHUNK:
            yield out.getvalue().encode()
            out.seek(0)
            out.truncate()
    yield out.getvalue().encode()
