# SPDX-License-Identifier: Apache-2.0
"""The program as a child process: settings become flags, its JSON becomes results, its exit code an exception."""

import contextlib
import csv
import dataclasses
import io
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from . import errors, graphs, program, results
from . import notebook as notebooks

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Table

Setting = str | int | float | bool | os.PathLike[str] | list[Any] | tuple[Any, ...] | graphs.Entries | Iterator[bytes] | None

# The package sets these itself, or the program would ask, wait or print no JSON.
OWN = {"format", "help", "quiet", "from"}
# What the program says beside a result goes to a log, for a warning made an error would lose a result that is paid for.
LOG = logging.getLogger("graphcloak")

SECRET = re.compile(r"(PASSWORD|SECRET|TOKEN|KEY)$")


class Verb:
    """run or recover: called, with the program's own mode; by its methods, with theirs.

    >>> gc = GraphCloak()
    >>> report = gc.run.stats("example:net3", source_property="source", tau=4, epsilon=4, delta=0.01)
    >>> report.node_count, report.epsilon_spent
    (97, 4.0)
    """

    def __init__(self, client: "GraphCloak", command: str) -> None:
        self._client, self._command = client, command

    def __call__(self, graph: object = None, **settings: Setting) -> results.Report:
        """Returns what was found. With mode="stream" the report has nodes."""
        if settings.get("dry_run"):
            raise ValueError('run returns what it found: plan() spends nothing, and call("run", …) returns any JSON')
        return self._client._report(self._command, graph, settings)

    def stream(self, graph: object = None, **settings: Setting) -> "DataFrame":
        """Returns a pandas frame with a row a node, and the answer and the run's id in its attrs."""
        results.need_pandas()  # before anything is spent
        report = self(graph, **{**settings, "mode": "stream"})
        frame = report.nodes_frame()
        frame.attrs.update(answer=report.answer, run_id=report.run_id)
        return frame

    def stats(self, graph: object = None, **settings: Setting) -> results.Report:
        """Returns the summary alone."""
        return self(graph, **{**settings, "mode": "stats"})

    def write(self, graph: object = None, **settings: Setting) -> results.Report:
        """Writes properties to the nodes of a folder or a server."""
        return self(graph, **{**settings, "mode": "write"})


class GraphCloak:
    """The program at binary, else at the environment's GRAPHCLOAK_BINARY, else the one of this package, else on PATH.

    Its path is the attribute binary. env is added to the environment of the program, such as NEO4J_PASSWORD: passwords go
    this way alone, for other users of a machine can see arguments. It raises BinaryNotFoundError where there is no program,
    and VersionError where that is a release of another version. Where notebook is true, as it is in a notebook unless said,
    progress is shown in one line and a report has its map.

    Every method takes the settings of docs/reference/configuration.md as keywords: node_labels=["Person"] is
    --node-labels Person. True is a bare flag, False is --flag=false, None leaves it out.

    graph is a networkx graph; a pair of nodes and relationships, as pandas frames, pyarrow tables or mappings of columns;
    a SciPy sparse matrix of weights, or a pair of nodes and such a matrix; a Graph of graphdatascience, whose labels and types
    are then read in the database that the settings name; the path of a folder; or a text: an address such
    as "neo4j://localhost:7687", "folder:water", "example:karate". Without one the settings name the store. A graph in
    memory is kept, with its columns and its ledger, in a folder under the user's folder for state: the same ids and
    relationships have the same ledger.

    operator= takes an operator in place of heat on the graph, or a list of alternatives: a file; or for a graph in memory a
    table of sensor, node, response and time, or a SciPy sparse matrix with a column a node and a row a node, or a pair of the
    rows' sensors, each an id or (id, time), and such a matrix.

    signal= of run and release is a file with the private column, or an iterator over the bytes of one, such as spark.signal():
    they go to the program's standard input. Where the iterator fails, the program sees no end of them, and spends nothing.

    A failure of the program raises the GraphCloakError of its exit code; what it says beside a result goes to the logger
    "graphcloak" as a warning. An interrupt ends the program in order, and the same call goes on with a run that is paid.

    >>> gc = GraphCloak()
    >>> nodes = {"id": ["a", "b", "c", "d"]}
    >>> relationships = {"source": ["a", "b", "c"], "target": ["b", "c", "d"]}
    >>> gc.inspect((nodes, relationships), tau=2).node_count
    4
    """

    run: Verb
    """Spends budget, releases and recovers. Called, it writes back as mode says, and streams for a graph in memory."""
    recover: Verb
    """Where the source likely is, from release= or measurement_property=; costs no privacy."""

    def __init__(
        self, binary: str | os.PathLike[str] | None = None, *, env: Mapping[str, str] | None = None, notebook: bool | None = None
    ) -> None:
        self.binary = find(binary)
        self._env = dict(env or {})
        self._notebook = notebooks.here() if notebook is None else notebook
        self.run, self.recover = Verb(self, "run"), Verb(self, "recover")

    def plan(self, graph: object = None, *, output: str | os.PathLike[str] | None = None, **settings: Setting) -> results.Plan:
        """Sensitivity, noise and expected accuracy; spends nothing. output keeps the plan's file.

        >>> GraphCloak().plan("example:karate", tau=2, epsilon=4, delta=0.01).node_count
        34
        """
        refuse_answers("plan", settings)
        return results.read(results.Plan, self._file("plan", graph, output, settings))

    def plan_answers(
        self, graph: object = None, *, answer_property: str, output: str | os.PathLike[str] | None = None, **settings: Setting
    ) -> results.AnswerPlan:
        """plan for people who are asked whether they have heard something; round= and reach= are among its settings."""
        settings["answer_property"] = answer_property
        return results.read(results.AnswerPlan, self._file("plan", graph, output, settings))

    def release(self, graph: object = None, *, output: str | os.PathLike[str], **settings: Setting) -> Path:
        """Spends the budget of a plan's file, plan=, and writes the private measurement to output."""
        self._file("release", graph, output, settings)
        return Path(output)

    def evaluate(self, graph: object = None, **settings: Setting) -> results.Evaluation:
        """How often the answer would be right, by simulation; reads no signal and spends nothing.

        >>> found = GraphCloak().evaluate("example:net3", tau=4, epsilon=4, delta=0.01, trials=50)
        >>> found.right.lower > found.chance
        True
        """
        refuse_answers("evaluate", settings)
        return results.read(results.Evaluation, self.call("evaluate", graph=graph, **settings))

    def evaluate_answers(self, graph: object = None, *, answer_property: str, **settings: Setting) -> results.AnswerEvaluation:
        """How well whispers would be placed, by simulation; reads no answer and spends nothing."""
        return results.read(results.AnswerEvaluation, self.call("evaluate", graph=graph, answer_property=answer_property, **settings))

    def inspect(self, graph: object = None, **settings: Setting) -> results.Inspection:
        """The graph in the paper's terms.

        >>> GraphCloak().inspect("example:karate", tau=2).relationship_count
        78
        """
        return results.read(results.Inspection, self.call("inspect", graph=graph, **settings))

    def runs_list(self, graph: object = None, **settings: Setting) -> results.RunList:
        """Every run on a store, latest first."""
        return results.read(results.RunList, self.call("runs", "list", graph=graph, **settings))

    def version(self) -> results.Version:
        return results.read(results.Version, self.call("version"))

    def call(self, *command: str, graph: object = None, **settings: Setting) -> dict[str, Any]:
        """Any command that prints one JSON document, such as call("graph", "generate", "example:net3", "water")."""
        document = parse(self._execute(command, graph, settings))
        if document is None:
            raise errors.AnswerError("the program printed no JSON: does the command write to a file?")
        return document

    def table(self, *command: str, graph: object = None, **settings: Setting) -> "Table":
        """The rows that a command prints as CSV, as a pyarrow table: table("recover", …, mode="stream") has a row a node.

        Ids of nodes are strings, those of communities int64, numbers double; null stands for what is missing.
        """
        try:
            from pyarrow import parquet
        except ImportError as e:
            raise ImportError("a table needs pyarrow: pip install pyarrow") from e
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "rows.parquet"
            self._execute(command, graph, {**settings, "output": path}, "parquet")
            return parquet.read_table(path)

    def _report(self, command: str, graph: object, settings: dict[str, Setting]) -> results.Report:
        """Runs a command, in a notebook with a page whose map the report shows."""
        with tempfile.TemporaryDirectory() as scratch:
            page = Path(scratch) / "page.html"
            if self._notebook and settings.get("report") is None:
                settings = {**settings, "report": page}
            report = results.read(results.Report, self.call(command, graph=graph, **settings))
            if page.exists():
                report = dataclasses.replace(report, map=notebooks.map_of(page.read_text(encoding="utf-8")))
        return report

    def _file(self, command: str, graph: object, output: str | os.PathLike[str] | None, settings: dict[str, Setting]) -> dict[str, Any]:
        """Runs a command with output, or a file that does not outlive it, and returns what the file holds."""
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(output) if output is not None else Path(scratch) / "output.json"
            self._execute((command,), graph, {**settings, "output": path})
            document = parse(path.read_text(encoding="utf-8"))
        if document is None:
            raise errors.AnswerError(f"the program wrote no JSON for {command}")
        return document

    def _execute(self, command: tuple[str, ...], graph: object, settings: dict[str, Setting], form: str = "json") -> str:
        """Returns standard output. An interrupt is handed on, so that the program ends in order and can be resumed."""
        env = {k: v for k, v in {**os.environ, **self._env, "NO_COLOR": "1"}.items() if k != "GRAPHCLOAK_BINARY"}  # no setting
        if self._notebook:
            env.setdefault("GRAPHCLOAK_VERBOSE", "true")  # its log tells how far it is
        with graphs.source(graph, command[0], settings, env) as (from_, all_):
            feed = all_.get("signal")
            if isinstance(feed, Iterator):
                all_ = {**all_, "signal": "-"}
            arguments = [self.binary, *command, *flags(all_, from_), f"--format={form}"]
            code, out, err = self._child(arguments, env, feed if isinstance(feed, Iterator) else None)
        said = [line for line in err.splitlines() if (parse(line) or {}).get("msg") is None]
        if code != 0:
            raise failure(code, out, "\n".join(said), env)
        for line in hide("\n".join(said), env).splitlines():
            LOG.warning("%s", line)
        return out

    def _child(self, arguments: list[str], env: Mapping[str, str], feed: Iterator[bytes] | None = None) -> tuple[int, str, str]:
        """Returns exit code, standard output and standard error of the program, whose standard input is feed."""
        child = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL if feed is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=env,
            start_new_session=True,  # a terminal's Ctrl-C reaches it once, by this process
        )
        assert child.stdout is not None and child.stderr is not None
        out: list[str] = []
        err: list[str] = []
        listeners = [
            threading.Thread(target=out.extend, args=(child.stdout,)),
            threading.Thread(target=self._listen, args=(child.stderr, err)),
        ]
        for listener in listeners:
            listener.start()
        try:
            if isinstance(child.stdin, io.TextIOWrapper):
                pour(feed or iter(()), child.stdin.buffer)
            listeners[0].join()
        except BaseException:
            if os.name == "posix":
                child.send_signal(signal.SIGINT)
            else:
                child.terminate()
            raise
        finally:
            child.wait()
            if child.stdin is not None:
                with contextlib.suppress(BrokenPipeError):  # of what it did not read
                    child.stdin.close()
            for listener in listeners:
                listener.join()
            child.stdout.close()
            child.stderr.close()
        return child.returncode, "".join(out), "".join(err)

    def _listen(self, stderr: IO[str], said: list[str]) -> None:
        """Collects what the program says, and shows how far it is."""
        shown = False
        for line in stderr:
            said.append(line)
            if self._notebook and (record := parse(line)) is not None and record.get("msg") == "progress":
                notebooks.progress(str(record.get("text", "")))
                shown = True
        if shown:
            notebooks.progress("")


def pour(feed: Iterator[bytes], stdin: IO[bytes]) -> None:
    """Writes a signal to the program, which may fail before it reads one, or need none. Where feed fails, its end is not written."""
    for chunk in feed:
        try:
            stdin.write(chunk)
            stdin.flush()
        except BrokenPipeError:
            return
    with contextlib.suppress(BrokenPipeError):
        stdin.close()


def find(binary: str | os.PathLike[str] | None) -> str:
    """Returns the program's path; see GraphCloak."""
    wanted = binary or os.environ.get("GRAPHCLOAK_BINARY") or (program.OWN if program.OWN.exists() else "graphcloak")
    found = shutil.which(os.fspath(wanted))
    if found is None:
        raise errors.BinaryNotFoundError(
            f"no program {os.fspath(wanted)!r}: install a wheel of this package, give binary=, set GRAPHCLOAK_BINARY, or put "
            "graphcloak on PATH by `go install ./cmd/graphcloak`"
        )
    said = subprocess.run([found, "version", "--format=json"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    version = str((parse(said.stdout.decode(errors="replace")) or {}).get("version", ""))
    if re.fullmatch(r"v\d+\.\d+\.\d+", version) and version != "v" + program.VERSION:  # a build in between is taken as it is
        raise errors.VersionError(os.path.abspath(found), version.removeprefix("v"), program.VERSION)
    return os.path.abspath(found)


def refuse_answers(method: str, settings: Mapping[str, Setting]) -> None:
    """Refuses a question of yes or no where the result would be one of heat."""
    if settings.get("answer_property") is not None:
        raise ValueError(f"{method}_answers is {method} for people who are asked")


def flags(settings: Mapping[str, Setting], graph: str | None = None) -> list[str]:
    """Returns keyword arguments as flags. No message of its errors holds a value."""
    list_ = [] if graph is None else [f"--from={graph}"]
    for name, value in settings.items():
        if name == "password":
            raise ValueError('a password goes by the environment alone: GraphCloak(env={"NEO4J_PASSWORD": …})')
        if name in OWN or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError(f"{name} is no setting that can be given here" + (": use graph=" if name == "from" else ""))
        if name in ("uri", "address") and "@" in str(value):
            raise ValueError("an address without user and password is wanted: give username= and NEO4J_PASSWORD")
        if name == "operator" and not all(isinstance(v, (str, os.PathLike)) for v in (value if isinstance(value, list) else [value])):
            raise TypeError("an operator in memory is for a graph in memory: give a file")
        flag = "--" + name.replace("_", "-")
        if value is True:
            list_.append(flag)
        elif value is not None:
            list_.append(f"{flag}={text(value)}")
    return list_


def text(value: Setting) -> str:
    """Returns a value as the program reads it; a list is one line of CSV, so that its members may hold commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(value)
        return line.getvalue()
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def parse(out: str) -> dict[str, Any] | None:
    """Returns the JSON object that a text is, or None."""
    try:
        document = json.loads(out)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def failure(code: int, out: str, err: str, env: Mapping[str, str]) -> errors.GraphCloakError:
    """Returns the exception of an exit code, with what the program said and no secret of its environment."""
    if code < 0:  # it was killed, and could say nothing
        code, out, err = 128 - code, "", f"the program was stopped by signal {-code}; the same call again goes on"
    document = parse(out)
    problem = (document or {}).get("error")
    if not isinstance(problem, dict):  # a result under strict, or nothing
        said = [line.removeprefix("Note: ") for line in err.splitlines() if line.strip()]
        problem = {"message": "; ".join(said) or "the program said nothing"}
    else:
        document = None
    problem = {k: hide(v, env) if isinstance(v, str) else v for k, v in problem.items()}
    return errors.BY_EXIT_CODE.get(code, errors.GraphCloakError)(code, problem, document)


def hide(said: str, env: Mapping[str, str]) -> str:
    """Returns a text in which the secrets of an environment are stars."""
    for name, value in env.items():
        if value and SECRET.search(name):
            said = said.replace(value, "***")
    return said
