# SPDX-License-Identifier: Apache-2.0
"""Tests against the program that GRAPHCLOAK_BINARY or PATH names: python3 -m unittest discover -s tests -t ."""

import csv
import doctest
import importlib.util
import json
import os
import runpy
import signal
import stat
import subprocess
import tempfile
import threading
import time
import unittest
from collections.abc import Iterator
from contextlib import redirect_stdout
from html import escape
from io import StringIO
from pathlib import Path
from typing import Any

import graphcloak as g
from graphcloak import client, graphs, notebook, program, results, spark

EXAMPLE = Path(__file__).parent.parent / "examples" / "water.py"
SECRET = "kept-to-itself-7"
SETTINGS: dict[str, Any] = {"tau": 4, "epsilon": 4, "delta": 0.01}


def load_tests(_loader: unittest.TestLoader, tests: unittest.TestSuite, _pattern: str | None) -> unittest.TestSuite:
    """Adds the examples of the docstrings."""
    tests.addTests(doctest.DocTestSuite(client))
    return tests


class InFolder(unittest.TestCase):
    """A test in an empty folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.gc = g.GraphCloak()

    def script(self, body: str) -> Path:
        path = Path("fake").absolute()
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path


class Program(InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.gc.call("graph", "generate", "example:net3", "water")

    def run_it(self, **settings: Any) -> g.Report:
        with self.assertLogs("graphcloak", "WARNING") as log:
            report = self.gc.run("folder:water", source_property="source", **SETTINGS, **settings)
        self.assertIn("has no cap", log.output[0])  # the scope is new
        return report

    def test_run_streams_and_is_listed(self) -> None:
        report = self.run_it(mode="stream")
        self.assertEqual((report.node_count, len(report.nodes), report.epsilon_spent, report.delta_spent), (97, 97, 4, 0.01))
        there = report.document["presence"]["probability"]  # of a source at all
        self.assertAlmostEqual(sum(n.source_probability for n in report.nodes), there, places=6)
        self.assertAlmostEqual(sum(c.probability for c in report.communities), there, places=6)
        self.assertEqual(sum(c.size for c in report.communities), 97)
        self.assertEqual(sum(n.private_heat is not None for n in report.nodes), report.sensor_count)
        likeliest = max(report.nodes, key=lambda n: n.source_probability)
        self.assertEqual(likeliest.node_id, report.posterior.node_id)
        self.assertEqual(report.document["signalProperty"], "source")
        [record] = self.gc.runs_list("folder:water").runs
        self.assertEqual((record.run_id, record.status, record.spent, record.epsilon_spent), (report.run_id, "FINISHED", True, 4))
        self.assertEqual((record.signal_property, record.budget_scope), ("source", report.budget_scope))
        assert record.ended_at is not None and record.started_at is not None and report.presence is not None and report.fit is not None
        self.assertGreaterEqual(record.ended_at, record.started_at)
        self.assertEqual(record.verdict == "no sign of a source", not report.presence.detected and report.fit.p_value >= 0.001)
        self.assertEqual(record.verdict == "misfit", report.fit.p_value < 0.001)

    def test_run_writes_back(self) -> None:
        report = self.run_it()
        with open("water/nodes.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual({r["gcRunId"] for r in rows}, {report.run_id})
        self.assertGreaterEqual(report.node_properties_written, 97 * 5)

    def test_budget(self) -> None:
        self.run_it()
        self.gc.call("budget", "set", graph="folder:water", budget_scope="property=source", epsilon=5, delta=0.01)
        with self.assertRaises(g.BudgetExceededError) as caught:
            self.gc.run("folder:water", source_property="source", **SETTINGS)
        self.assertEqual(caught.exception.exit_code, 9)

    def test_plan_release_recover(self) -> None:
        plan = self.gc.plan("folder:water", output="plan.json", **SETTINGS)
        assert plan.expected_accuracy is not None
        self.assertGreater(plan.expected_accuracy.lower, plan.expected_accuracy.chance)
        self.assertLess(plan.sigma_min, plan.sigma_max)
        with self.assertLogs("graphcloak"):
            release = self.gc.release("folder:water", plan="plan.json", source_property="source", output="release.json")
        report = self.gc.recover("folder:water", release=release)
        self.assertEqual((report.epsilon_spent, report.sensor_count), (0, len(plan.document["sensors"])))

    def test_table(self) -> None:
        self.gc.plan("folder:water", output="plan.json", **SETTINGS)
        with self.assertLogs("graphcloak"):
            self.gc.release("folder:water", plan="plan.json", source_property="source", output="release.json")
        arguments: dict[str, Any] = {"graph": "folder:water", "release": "release.json", "mode": "stream"}
        if importlib.util.find_spec("pyarrow") is None:
            with self.assertRaisesRegex(ImportError, "pip install pyarrow"):
                self.gc.table("recover", **arguments)
            return
        from pyarrow import parquet

        nodes, report = self.gc.table("recover", **arguments), self.gc.recover("folder:water", release="release.json", mode="stream")
        types = {f.name: str(f.type) for f in nodes.schema}
        self.assertEqual((types["nodeId"], types["communityId"], types["source"]), ("string", "int64", "double"))
        self.assertEqual(
            [(r["nodeId"], r["privateHeat"], r["communityId"], r["sourceProbability"]) for r in nodes.to_pylist()],
            [(n.node_id, n.private_heat, n.community_id, n.source_probability) for n in report.nodes],
        )
        command = [self.gc.binary, "recover", "--from=folder:water", "--release=release.json", "--mode=stream", "-o", "nodes.parquet"]
        subprocess.run(command, check=True, capture_output=True)
        self.assertTrue(parquet.read_table("nodes.parquet").equals(nodes))

    def test_strict_keeps_the_result(self) -> None:
        report = self.run_it()
        Path("result.json").write_text(json.dumps(report.document), encoding="utf-8")
        with self.assertRaisesRegex(g.WarningsError, "no weights") as caught:
            g.GraphCloak(self.script("cat result.json; echo 'Warning: no weights' >&2; exit 12")).run()
        assert caught.exception.result is not None
        self.assertEqual(results.read(g.Report, caught.exception.result), report)

    def test_nothing_is_spent_before_the_settings_are_right(self) -> None:
        with self.assertRaisesRegex(g.NotFoundError, "nowhere.*(?s:.)*Hint: ") as caught:
            self.gc.run("folder:water", source_property="nowhere", **SETTINGS)
        self.assertEqual((caught.exception.exit_code, caught.exception.resource_type), (3, "property"))
        self.assertEqual(self.gc.runs_list("folder:water").runs, ())
        with self.assertRaisesRegex(ValueError, "plan"):
            self.gc.run("folder:water", source_property="source", dry_run=True)

    def test_frames(self) -> None:
        report = self.run_it(mode="stream")
        if importlib.util.find_spec("pandas") is None:
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                report.nodes_frame()
            return
        nodes, communities = report.nodes_frame(), report.communities_frame()
        self.assertEqual(list(communities["name"]), [c.name for c in report.communities])
        self.assertEqual((nodes.shape, self.gc.runs_list("folder:water").frame().shape), ((97, 8), (1, 13)))

    def test_an_interrupted_run_goes_on(self) -> None:
        runs, me = graphs.state(os.environ) / "runs", os.getpid()
        before = set(runs.glob("*.json"))

        def interrupt() -> None:
            while not set(runs.glob("*.json")) - before:
                time.sleep(0.001)
            os.kill(me, signal.SIGINT)

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with self.assertRaises(KeyboardInterrupt):
            self.gc.run.stats("folder:water", source_property="source", **SETTINGS)
        interrupter.join()
        report = self.gc.run.stats("folder:water", source_property="source", **SETTINGS)
        [record] = [r for r in self.gc.runs_list("folder:water").runs if r.spent]
        self.assertEqual((record.run_id, record.status), (report.run_id, "FINISHED"))
        [scope] = self.gc.call("budget", "show", graph="folder:water")["scopes"]
        self.assertEqual(scope["releases"], 1)

    def test_a_notebook_shows_a_report(self) -> None:
        out = StringIO()
        with redirect_stdout(out), self.assertLogs("graphcloak"):
            clear: dict[str, Any] = {**SETTINGS, "epsilon": 100}  # a page has a map where a community stands out
            report = g.GraphCloak(notebook=True).run("folder:water", source_property="source", **clear)
        page = report._repr_html_()
        self.assertTrue(report.map.startswith("<svg") and report.map.endswith("</svg>"))
        self.assertIn("data:image/svg+xml;base64,", page)
        for said in (report.answer, report.communities[0].name, report.not_protected[0]):
            self.assertIn(escape(said), page)


class Signal(InFolder):
    """A private column that streams into the program."""

    def setUp(self) -> None:
        super().setUp()
        with self.assertLogs("graphcloak"):
            self.gc.call("graph", "generate", "example:net3", "water")
            self.gc.run.stats("folder:water", source_property="source", **SETTINGS)  # its scope is not new then
        self.before = self.spent()

    def spent(self) -> list[int]:
        return [scope["releases"] for scope in self.gc.call("budget", "show", graph="folder:water")["scopes"]]

    def read(self, **more: Any) -> g.Report:
        return self.gc.run.stats("folder:water", source_property="source", spend_at_chance=True, **SETTINGS, **more)

    def test_it_is_the_column(self) -> None:
        with open("water/nodes.csv", newline="") as f:
            rows = [(r["id"], r["source"]) for r in csv.DictReader(f) if float(r["source"] or 0)]
        report = self.read(signal=spark.counted(["id", "source"], reversed(rows)))
        self.assertEqual((report.epsilon_spent, self.spent()), (4, [self.before[0] + 1]))
        Path("signal.csv").write_bytes(b"".join(spark.counted(["id", "source"], rows)))
        self.read(signal="signal.csv")
        self.assertEqual(self.spent(), [self.before[0] + 2])

    def test_it_ends_before_its_end(self) -> None:
        def broken() -> Iterator[bytes]:
            yield b"id,source\n"
            raise LookupError("the lake is dry")

        with self.assertRaisesRegex(LookupError, "dry"):
            self.read(signal=broken())
        with self.assertRaisesRegex(g.ValidationError, "without the line that counts"):
            self.read(signal=iter([b"id,source\n"]))
        with self.assertRaisesRegex(ValueError, "no id"):
            self.read(signal=spark.counted(["id", "source"], [("1", 1), (None, 1)]))
        self.assertEqual(self.spent(), self.before)

    def test_nobody_reads_it(self) -> None:
        flood = (b"x" * 65536 for _ in range(100))
        with self.assertRaises(g.NotFoundError):
            self.gc.run("folder:nowhere", source_property="source", signal=flood, **SETTINGS)
        talker = self.script("head -c 3000000 /dev/zero | tr '\\0' ' '; echo '{\"version\": \"dev\"}'")
        flood = (b"x" * 65536 for _ in range(100))
        self.assertEqual(g.GraphCloak(talker).call("runs", signal=flood)["version"], "dev")


class Table:
    """What spark.py uses of a DataFrame."""

    def __init__(self, columns: list[str], rows: list[Any], conf: dict[str, str] | None = None) -> None:
        self.columns, self.made, self.conf = columns, rows, conf or {}
        self.sparkSession = self.sparkContext = self

    def getConf(self) -> dict[str, str]:
        return self.conf

    def select(self, names: list[str]) -> "Table":
        return Table(names, [tuple(row[self.columns.index(n)] for n in names) for row in self.made])

    def toLocalIterator(self, prefetchPartitions: bool) -> Iterator[Any]:
        for row in self.made:
            if isinstance(row, Exception):
                raise row
            yield row


class Lake(InFolder):
    """spark.py by itself; tests/spark has a Spark."""

    def save(self, nodes: list[Any], relationships: list[Any]) -> None:
        public: Any = Table(["id", "open"], nodes)
        edges: Any = Table(["source", "target"], relationships)
        spark.save(public, edges, "town")

    def test_a_folder_is_whole_or_no_graph(self) -> None:
        self.save([("a", True), ('b,"1"', None), (3, False)], [("a", 3)])
        files = {p.name: p.read_text() for p in Path("town").iterdir()}
        self.assertEqual(files, {"nodes.csv": 'id,open\na,true\n"b,""1""",\n3,false\n', "relationships.csv": "source,target\na,3\n"})
        with self.assertRaises(LookupError):
            self.save([("c", True)], [("c", "c"), LookupError()])
        self.assertEqual({p.name: p.read_text() for p in Path("town").iterdir()}, files)
        self.save([("c", True)], [])
        self.assertEqual(Path("town/nodes.csv").read_text(), "id,open\nc,true\n")

    def test_a_signal_wants_encryption(self) -> None:
        on = dict.fromkeys(spark.ENCRYPTION, "true")
        table: Any = Table(["heat", "id"], [(0.1, 1), ([1, None, 2.5], "b"), (None, "c")], on)
        self.assertEqual(b"".join(spark.signal(table)).decode(), "id,heat\n1,0.1\nb,1;;2.5\nc,\n,3\n")
        for name in on:
            table.conf = {**on, name: "false"}
            with self.assertRaisesRegex(ValueError, name):
                spark.signal(table)
        table.conf, table.columns = on, ["heat", "name"]
        with self.assertRaisesRegex(ValueError, "two columns"):
            spark.signal(table)


class Memory(InFolder):
    """Graphs that are no store: they are kept in a folder, named by ids and relationships."""

    def setUp(self) -> None:
        super().setUp()
        self.env = {"XDG_STATE_HOME": os.path.abspath("state")}  # else the second time would find what the first spent
        self.gc = g.GraphCloak(env=self.env)

    def path(self, n: int = 40) -> tuple[graphs.Columns, graphs.Columns]:
        ids = list(range(n))
        return {"id": ids, "ill": [1.0 if i == 7 else 0.0 for i in ids]}, {"source": ids[:-1], "target": ids[1:]}

    def test_the_budget_outlasts_the_call(self) -> None:
        nodes, relationships = self.path()
        settings: dict[str, Any] = {**SETTINGS, "source_property": "ill", "spend_at_chance": True}
        with self.assertLogs("graphcloak"):
            report = self.gc.run((nodes, relationships), **settings)
        self.assertEqual([n.node_id for n in report.nodes], [str(i) for i in nodes["id"]])
        turned = {k: list(reversed(v)) for k, v in nodes.items()}
        other = {**turned, "ill": [0.5] * 40}  # the same graph, in another order and with another signal
        back = {"target": relationships["source"], "source": relationships["target"]}
        self.gc.call("budget", "set", graph=(other, back), budget_scope="property=ill", epsilon=5, delta=0.01)
        with self.assertRaises(g.BudgetExceededError):
            self.gc.run((other, back), **settings)
        spent = [r.run_id for r in self.gc.runs_list((nodes, relationships)).runs if r.spent]
        self.assertEqual(spent, [report.run_id])
        with self.assertRaisesRegex(ValueError, "takes nothing back"):
            self.gc.run.write((nodes, relationships), **settings)
        self.assertNotEqual(graphs.digest(nodes, relationships), graphs.digest(*self.path(39)))

    def test_its_files(self) -> None:
        nodes = {"nodeId": ["a", "b,1"], "labels": [["A", "B"], "A"], "x": [1.5, float("nan")], "open": [True, None]}
        relationships = {"sourceNodeId": ["a"], "targetNodeId": ["b,1"], "relationshipType": ["R"]}
        with graphs.kept((nodes, relationships), self.env) as (folder, weighted):
            self.assertEqual((folder / "nodes.csv").read_text(), 'id,labels,x,open\na,A;B,1.5,true\n"b,1",A,,\n')
            self.assertEqual((folder / "relationships.csv").read_text(), 'source,target,type\na,"b,1",R\n')
            modes = {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()}
        self.assertEqual((weighted, modes, stat.S_IMODE(folder.stat().st_mode)), (False, {0o600}, 0o700))

    def test_another_call_waits(self) -> None:
        entered = threading.Event()

        def other() -> None:
            with graphs.kept(self.path(), self.env):
                entered.set()

        with graphs.kept(self.path(), self.env):
            waiting = threading.Thread(target=other)
            waiting.start()
            self.assertFalse(entered.wait(0.2))
        waiting.join()
        self.assertTrue(entered.is_set())

    def test_what_is_no_graph(self) -> None:
        relationships = {"source": ["a"], "target": ["b"]}
        for graph, error, said in (
            (7, TypeError, "int is no graph"),
            (([1], relationships), TypeError, "list is no table"),
            (({"name": ["a"]}, relationships), ValueError, "no column 'id'"),
            (({"id": ["a"]}, {"source": ["a"]}), ValueError, "no column 'target'"),
            (({"id": ["a", "b"], "x": [1]}, relationships), ValueError, "differ in length"),
            (({"id": [1, "1"]}, relationships), ValueError, "one id"),
        ):
            with self.subTest(said), self.assertRaisesRegex(error, said):
                self.gc.inspect(graph)

    def test_names_of_stores(self) -> None:
        Path("water").mkdir()
        for graph, want in (
            (None, (None, {})),
            ("example:karate", ("example:karate", {})),
            ("water", ("folder:water", {})),
            (Path("elsewhere"), ("folder:elsewhere", {})),
            ("neo4j+s://host:7687", (None, {"uri": "neo4j+s://host:7687"})),
        ):
            with self.subTest(graph), graphs.source(graph, "plan", {}, {}) as got:
                self.assertEqual(got, want)


class Notebook(unittest.TestCase):
    def test_values_are_escaped(self) -> None:
        bad = "<script>alert('&')</script>"
        community = results.Community(0, bad, 3, 0.5, 0.001, 0)
        report = results.Report("r", bad, bad, (bad,), (community,) * 12, results.Posterior("a", 1, 1), 3, 3, 1, 0, 0)
        rate = results.Rate(0.5, 0.25, 0.75)
        counted = results.EvaluatedCommunity(0, bad, 3, 9, 0.5, 0.25, 0.75)
        for page in (report._repr_html_(), results.Evaluation(9, 0, 0.1, rate, rate, rate, 3, (bad,), (counted,))._repr_html_()):
            self.assertNotIn("<script", page)
            self.assertIn("&lt;script&gt;alert(&#x27;&amp;&#x27;)", page)
        self.assertIn("and 2 more", report._repr_html_())
        self.assertIn("under 1 %", report._repr_html_())

    def test_map(self) -> None:
        self.assertEqual(
            notebook.map_of('<svg class="bar"></svg><svg class="map" id="m"><g/></svg><svg></svg>'), '<svg class="map" id="m"><g/></svg>'
        )
        self.assertEqual((notebook.map_of("<p>no map</p>"), notebook.picture("")), ("", ""))


class Commands(InFolder):
    def test_evaluate_is_the_same_twice(self) -> None:
        one, other = (self.gc.evaluate("example:net3", trials=20, **SETTINGS) for _ in range(2))
        self.assertEqual(one.document, other.document)
        self.assertTrue(one.right.lower <= one.right.rate <= one.right.upper)

    def test_answers(self) -> None:
        self.gc.call("graph", "generate", "example:net3", "water")
        about: dict[str, Any] = {"answer_property": "source", "epsilon": 2, "round": 1, "reach": 12}
        plan = self.gc.plan_answers("folder:water", output="asked.json", trials=0, **about)
        self.assertEqual((plan.question.rumour, plan.question.round, plan.question.epsilon, plan.reach), ("source", 1, 2, 12))
        self.assertAlmostEqual(plan.question.flip, 0.1192, places=4)
        e = self.gc.evaluate_answers("folder:water", trials=60, **about)
        self.assertEqual((e.people, e.trials, [x.epsilon for x in e.by_epsilon]), (97, 60, [0.5, 1, 2, 4]))
        self.assertEqual([x.heard for x in e.by_size], [12])
        with self.assertLogs("graphcloak", "WARNING"):
            self.gc.release("folder:water", plan="asked.json", output="answers.json")
        self.assertEqual(self.gc.recover("folder:water", release="answers.json").document["whisper"]["asked"], 97)
        for method in (self.gc.plan, self.gc.evaluate):
            with self.assertRaisesRegex(ValueError, "_answers"):
                method("folder:water", answer_property="source")

    def test_inspect(self) -> None:
        found = self.gc.inspect("example:karate", tau=2)
        self.assertEqual((found.node_count, found.relationship_count, found.tau, len(found.sensitivity.edge)), (34, 78, 2, 2))

    def test_version(self) -> None:
        self.assertTrue(self.gc.version().go_version.startswith("go1."))

    def test_usage(self) -> None:
        with self.assertRaisesRegex(g.UsageError, "--no-such-flag"):
            self.gc.plan("example:karate", no_such_flag=1)
        with self.assertRaises(g.BinaryNotFoundError):
            g.GraphCloak("no-such-program")

    def test_example(self) -> None:
        out = StringIO()
        with redirect_stdout(out), self.assertLogs("graphcloak"):
            cells = runpy.run_path(str(EXAMPLE))
        report, expected = cells["report"], cells["expected"]
        zones = {n["id"]: n["leiden"] for n in cells["nodes"]}
        names = {c.community_id: c.name for c in report.communities}
        self.assertEqual({n.node_id: names[n.community_id] for n in report.nodes}, zones)
        self.assertEqual(sorted(c.size for c in report.communities), [32, 32, 33])
        self.assertGreater(expected.right.lower, expected.chance)
        self.assertIn(report.answer, out.getvalue())
        self.assertIn("<svg", Path("water.html").read_text(encoding="utf-8"))


class Flags(unittest.TestCase):
    def test_values(self) -> None:
        self.assertEqual(
            client.flags(
                {"node_labels": ["A,B", 'C"'], "strict": True, "retry": False, "tau": 0.5, "delta": None, "report": Path("x")}, "folder:-y"
            ),
            ["--from=folder:-y", '--node-labels="A,B","C"""', "--strict", "--retry=false", "--tau=0.5", "--report=x"],
        )

    def test_refused(self) -> None:
        for name in ("password", "format", "from", "Tau", "a=b", "a-b", ""):
            with self.subTest(name), self.assertRaises(ValueError) as caught:
                client.flags({name: SECRET})
            self.assertNotIn(SECRET, str(caught.exception))
        with self.assertRaises(ValueError) as caught:
            client.flags({"uri": f"bolt://neo4j:{SECRET}@host"})
        self.assertNotIn(SECRET, str(caught.exception))


class Failures(InFolder):
    """The child's side is a script here: these ends cannot be brought about at will."""

    def test_another_version(self) -> None:
        answer = 'echo \'{"schemaVersion": 1, "version": "%s", "goVersion": "g", "platform": "p"}\''
        with self.assertRaisesRegex(g.VersionError, f"fake is graphcloak 9.8.7, and this package is {program.VERSION}") as caught:
            g.GraphCloak(self.script(answer % "v9.8.7"))
        self.assertEqual((caught.exception.program, caught.exception.package), ("9.8.7", program.VERSION))
        for version in ("v" + program.VERSION, "(devel)", "v0.0.0-20261124000000-0123456789ab"):
            self.assertEqual(g.GraphCloak(self.script(answer % version)).version().version, version)

    def test_progress_is_one_line(self) -> None:
        lines = 'echo \'{"msg":"progress","text":"[1/8] half"}\' >&2; echo \'{"msg":"stage"}\' >&2; echo "Note: n" >&2; echo "{}"'
        out = StringIO()
        with redirect_stdout(out), self.assertLogs("graphcloak") as log:
            g.GraphCloak(self.script(lines), notebook=True).call("any")
        self.assertEqual([r.getMessage() for r in log.records], ["Note: n"])
        self.assertEqual(out.getvalue(), f"\r{'[1/8] half':<80}\r{'':<80}\r")

    def test_every_documented_code(self) -> None:
        table = (Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md").read_text(encoding="utf-8")
        codes = {int(line.split("|")[1]) for line in table.splitlines() if line.startswith("| ") and line.split("|")[1].strip().isdigit()}
        self.assertEqual(set(g.errors.BY_EXIT_CODE), codes - {0})
        for code, cls in g.errors.BY_EXIT_CODE.items():
            body = f'echo \'{{"error": {{"message": "m", "suggestion": "s", "resource_id": "r", "retryable": true}}}}\'; exit {code}'
            with self.assertRaises(cls) as caught:
                g.GraphCloak(self.script(body)).version()
            e = caught.exception
            self.assertEqual((str(e), e.resource_id, e.retryable), (f"m (exit {code})\nHint: s", "r", True))

    def test_no_secret_is_told(self) -> None:
        fake = g.GraphCloak(self.script('echo "wrong: $NEO4J_PASSWORD" >&2; exit 4'), env={"NEO4J_PASSWORD": SECRET})
        with self.assertRaisesRegex(g.AuthError, r"wrong: \*\*\* \(exit 4\)"):
            fake.version()
        self.assertNotIn(SECRET, repr(fake))

    def test_killed_or_of_another_version(self) -> None:
        with self.assertRaisesRegex(g.GraphCloakError, "signal 9"):
            g.GraphCloak(self.script("kill -9 $$")).version()
        for printed in (
            "{}",
            '{"schemaVersion": 2, "version": "v", "goVersion": "g", "platform": "p"}',
            '{"schemaVersion": 1}',
            "[]",
            "words",
        ):
            with self.subTest(printed), self.assertRaises(g.AnswerError):
                g.GraphCloak(self.script(f"echo '{printed}'")).version()
        with self.assertRaisesRegex(g.AnswerError, "Version.platform"):
            results.read(g.Version, {"schemaVersion": 1, "version": "v", "goVersion": "g", "platform": 3})
