# SPDX-License-Identifier: Apache-2.0
"""A lake on this machine: a standalone master and two workers of Spark, all on 127.0.0.1, and a graph whose readings must not lie about.

It needs Java 17, PySpark 4 with pyarrow and pandas, and the program and the package: python -m unittest discover -s tests/spark
"""

import atexit
import csv
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import DataFrame, SparkSession

import graphcloak as g
from graphcloak import spark

NODES = 20_000
KILLS = 20
PLAN: dict[str, Any] = {
    "measurement_property": "heat",
    "isolated": "drop",
    "tau": 2,
    "epsilon": 4,
    "delta": 1e-6,
    "allocation": "uniform",
    "trials": 0,
    "deployment": "lake/1",
}
SOURCES: dict[str, Any] = {"measurement_property": None}  # a node without a row is no source: rows that are lost would not be missed
RELEASE: dict[str, Any] = {"measurement_property": "heat", "deployment": "lake/1", "spend_at_chance": True}


class Lake:
    """A cluster and the files of a test. Only lake/ may hold readings as they are."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="lake-"))
        self.started: list[subprocess.Popen[bytes]] = []
        for name in ("lake", "tmp", "local", "work", "events", "conf", "state"):
            (self.home / name).mkdir()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.master = f"spark://127.0.0.1:{s.getsockname()[1]}"
        conf = {
            "spark.authenticate": "true",
            "spark.authenticate.secret": "lake",
            "spark.network.crypto.enabled": "true",
            "spark.shuffle.compress": "false",  # else nothing could be found in it
            "spark.shuffle.spill.compress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={self.home}/tmp",
            "spark.executor.extraJavaOptions": f"-Djava.io.tmpdir={self.home}/tmp",
            "spark.executor.memory": "512m",
            "spark.local.dir": f"{self.home}/local",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"file://{self.home}/events",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.deploy.maxExecutorRetries": "-1",
            "spark.task.maxFailures": "1000",
            "spark.stage.maxConsecutiveAttempts": "1000",
            "spark.sql.adaptive.enabled": "false",  # as many partitions as a test says
        }
        (self.home / "conf" / "spark-defaults.conf").write_text("".join(f"{k} {v}\n" for k, v in conf.items()))
        os.environ.update(
            SPARK_HOME=str(Path(pyspark.__file__).parent),
            SPARK_CONF_DIR=f"{self.home}/conf",
            SPARK_LOCAL_IP="127.0.0.1",
            SPARK_LOCAL_DIRS=f"{self.home}/local",
            SPARK_DAEMON_MEMORY="256m",
            SPARK_DAEMON_JAVA_OPTS=f"-Djava.io.tmpdir={self.home}/tmp",
            SPARK_NO_DAEMONIZE="1",
            PYSPARK_PYTHON=sys.executable,
            TMPDIR=f"{self.home}/tmp",
            XDG_STATE_HOME=f"{self.home}/state",
        )
        tempfile.tempdir = f"{self.home}/tmp"
        host, port = self.master.removeprefix("spark://").split(":")
        self.daemon("master.Master", "--host", host, "--port", port, "--webui-port", "0")
        options = ("--host", host, "--cores", "1", "--memory", "600m", "--webui-port", "0", "--work-dir", f"{self.home}/work")
        self.workers = [self.daemon("worker.Worker", *options, self.master) for _ in range(2)]

    def daemon(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with open(self.home / "tmp" / f"daemon-{len(self.started)}.log", "wb") as log:
            command = [f"{os.environ['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{name}", *arguments]
            self.started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        return self.started[-1]

    def executors(self) -> list[int]:
        """The processes of executors that our workers started."""
        return [pid for worker in self.workers for pid in children(worker.pid) if b"CoarseGrainedExecutorBackend" in command(pid)]

    def close(self) -> None:
        for process in reversed(self.started):
            process.terminate()
            process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def raw(self) -> list[Path]:
        """The files outside lake/ that hold a reading: its text, or its eight bytes in either order."""
        values = random.Random(2).sample(readings(), 30)
        forms = (f for v in values for f in (repr(v)[:14].encode(), struct.pack("<d", v), struct.pack(">d", v)))
        wanted = re.compile(b"|".join(map(re.escape, forms)))
        files = [p for p in self.home.rglob("*") if p.is_file() and self.home / "lake" not in p.parents]
        found = []
        for path in files:
            try:
                content = path.read_bytes()
            except FileNotFoundError:  # Spark has deleted it meanwhile
                continue
            if wanted.search(content):
                found.append(path)
        return found


def children(pid: int) -> list[int]:
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):  # each thread has its own
        with suppress(OSError):
            found += [int(c) for c in path.read_text().split()]
    return found


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def readings() -> list[float]:
    draw = random.Random(1)
    return [draw.random() for _ in range(NODES)]


def eventually(what: Callable[[], bool], seconds: float = 300) -> bool:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()


def setUpModule() -> None:
    global lake, gc
    lake = Lake()
    atexit.register(lake.close)  # after an interrupt too
    gc = g.GraphCloak(notebook=False)
    town = lake.home / "town"
    gc.call("graph", "generate", f"road-like,n={NODES},seed=1", str(town))
    heats = iter(readings())
    with open(town / "nodes.csv") as file, open(lake.home / "lake" / "nodes.csv", "w") as out:
        writer = csv.writer(out, lineterminator="\n")
        for k, row in enumerate(csv.reader(file)):
            writer.writerow([row[0], repr(next(heats)) if k > 0 else "heat"])
    shutil.copy(town / "relationships.csv", lake.home / "lake")
    shutil.rmtree(town)
    key = gc.call("key", "create", str(lake.home / "lake.key"))
    assert key["bytes"] == 32


@contextmanager
def session(master: str, **conf: str) -> Iterator[SparkSession]:
    builder = SparkSession.builder.master(master).appName("lake")
    said = {"authenticate": "true", "network_crypto_enabled": "true", "io_encryption_enabled": "true", **conf}  # Java keeps the first
    for name, value in said.items():
        builder = builder.config("spark." + name.replace("_", "."), value)
    s = builder.getOrCreate()
    s.sparkContext.setLogLevel("ERROR")
    try:
        yield s
    finally:
        s.stop()


def tables(s: SparkSession, home: Path, partitions: int) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Nodes, relationships and readings, shuffled into as many partitions."""
    nodes = s.read.csv(f"{home}/lake/nodes.csv", header=True, schema="id string, heat double").repartition(partitions)
    relationships = s.read.csv(f"{home}/lake/relationships.csv", header=True).select("source", "target").repartition(partitions)
    return nodes.select("id"), relationships, nodes.select("id", "heat")


class Spark(unittest.TestCase):
    def folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=lake.home))

    def plan(self, folder: Path, **more: Any) -> dict[str, Any]:
        """Makes a plan, and returns what does not follow from the random seed of its check."""
        document = gc.plan(str(folder), output=folder / "plan.json", **{**PLAN, **more}).document
        del document["documentDigest"], document["sensitivitySeed"]
        document["sensitivity"].pop("seed", None)
        return document

    def release(self, folder: Path, **more: Any) -> list[tuple[str, float]]:
        """Makes a release, and returns what its key gives back: each reading, once, on a lattice of 2⁻³⁰ or finer."""
        key, file = lake.home / "lake.key", folder / "release.json"
        gc.release(str(folder), plan=folder / "plan.json", output=file, key=key, **RELEASE, **more)
        found = [(str(r["nodeId"]), r["reading"]) for r in gc.call("reveal", graph=str(folder), release=file, key=key)["readings"]]
        read = dict(zip(map(str, range(NODES)), readings(), strict=True))
        self.assertEqual(sorted(id_ for id_, _ in found), sorted(read))
        self.assertLess(max(abs(heat - read[id_]) for id_, heat in found), 2**-30)
        self.assertEqual(self.spends(folder), [1])
        return found

    def spends(self, folder: Path) -> list[int]:
        return [scope["releases"] for scope in gc.call("budget", "show", graph=str(folder))["scopes"]]

    def nothing_raw(self) -> None:
        """Asserts that readings lie nowhere, though Spark has them in shuffles on its disks."""
        shuffles = [p for p in (lake.home / "local").rglob("shuffle_*.data") if p.stat().st_size > 1000]
        self.assertGreater(len(shuffles), 0)
        self.assertEqual(lake.raw(), [])

    def test_partitions_change_nothing(self) -> None:
        plain, made = lake.home / "lake" / "plain", {}
        plain.mkdir()
        for name in ("nodes.csv", "relationships.csv"):
            shutil.copy(lake.home / "lake" / name, plain)
        with session(lake.master) as s:
            for partitions in (0, 2, 4, 7):
                folder, more = plain, {}
                if partitions:
                    nodes, relationships, column = tables(s, lake.home, partitions)
                    folder, more = spark.save(nodes, relationships, self.folder()), {"signal": spark.signal(column)}
                gc.call("graph", "snapshot", str(folder / "graph.snapshot"), graph=str(folder), isolated="drop")
                snapshot = hashlib.sha256((folder / "graph.snapshot").read_bytes()).hexdigest()
                made[partitions] = snapshot, self.plan(folder), self.release(folder, **more)
                for k, what in enumerate(("snapshot", "plan", "readings")):
                    self.assertTrue(made[partitions][k] == made[0][k], f"{partitions} partitions: another {what}")
            self.nothing_raw()
            self.assertEqual(s.createDataFrame(gc.table("budget", "show", graph=str(folder))).count(), 1)
        self.assertEqual(lake.raw(), [])

    def test_executors_die(self) -> None:
        killed: list[int] = []
        with session(lake.master) as s:
            nodes, relationships, column = tables(s, lake.home, 40)
            folder = spark.save(nodes, relationships, self.folder())
            self.plan(folder)
            slow = column.where("pmod(hash(id), 5) > 0 or reflect('java.lang.Thread', 'sleep', 10L) is not null")  # a second a partition
            done, tracker = threading.Event(), s.sparkContext.statusTracker()

            def busy() -> bool:
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                return any(stage is not None and stage.numActiveTasks > 0 for stage in stages)

            def kill() -> None:
                while len(killed) < KILLS and not done.wait(random.uniform(0.5, 1.5)):
                    fresh = sorted(set(lake.executors()) - set(killed))  # the first of them is at work, the others may still begin
                    if fresh and busy():
                        os.kill(fresh[0], signal.SIGKILL)
                        killed.append(fresh[0])

            killer = threading.Thread(target=kill)
            killer.start()
            try:
                self.release(folder, signal=spark.signal(slow))
            finally:
                done.set()
                killer.join()
            self.nothing_raw()
            application = s.sparkContext.applicationId
        self.assertEqual(len(killed), KILLS)
        said = "".join(p.read_text() for p in (lake.home / "events").rglob(f"events_*_{application}*"))
        self.assertGreater(said.count('"Reason":"ExecutorLostFailure"'), KILLS // 4)  # tasks that were under way
        self.assertGreaterEqual(said.count('"Event":"SparkListenerExecutorRemoved"'), KILLS)
        self.assertEqual(lake.raw(), [])

    def test_the_driver_dies(self) -> None:
        with session(lake.master) as s:
            nodes, relationships, _ = tables(s, lake.home, 4)
            folder = spark.save(nodes, relationships, self.folder())
        self.plan(folder, **SOURCES)
        kept = {p for p in (lake.home / "state").rglob("*") if p.is_file()}
        driver = subprocess.Popen([sys.executable, Path(__file__).parent / "driver.py", lake.master, lake.home, folder])
        self.addCleanup(driver.kill)
        self.assertTrue(eventually((folder / "half").exists))
        theirs = children(driver.pid)
        self.assertEqual(len([pid for pid in theirs if b"--signal=-" in command(pid)]), 1)
        driver.kill()
        driver.wait()
        self.assertTrue(eventually(lambda: not any(command(pid) for pid in theirs)), "the program and the driver's Java go on")
        self.assertEqual((self.spends(folder), (folder / "release.json").exists()), ([], False))
        self.assertEqual({p for p in (lake.home / "state").rglob("*") if p.is_file()}, kept)
        self.assertTrue(eventually(lambda: not lake.executors()))
        self.assertEqual(lake.raw(), [])

    def test_encryption_is_wanted(self) -> None:
        with session(lake.master, io_encryption_enabled="false") as s:
            _, _, column = tables(s, lake.home, 4)
            with self.assertRaisesRegex(ValueError, "spark.io.encryption.enabled"):
                spark.signal(column)
            self.assertEqual(sum(1 for _ in spark.rows(column)), NODES)
            found = lake.raw()  # so the search does find what lies open
            self.assertTrue(found and all("shuffle_" in p.name for p in found), found)
        with session("local[1]", authenticate="false", network_crypto_enabled="false") as s:
            _, _, column = tables(s, lake.home, 4)
            with self.assertRaisesRegex(ValueError, "spark.network.crypto.enabled"):
                spark.signal(column)
        self.assertTrue(eventually(lambda: not lake.executors()))


if __name__ == "__main__":
    unittest.main()
