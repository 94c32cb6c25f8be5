# SPDX-License-Identifier: Apache-2.0
"""The program as a child process: settings become flags, its JSON becomes results, its exit code an exception."""

import csv
import io
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import errors, results

if TYPE_CHECKING:
    from pyarrow import Table

Setting = str | int | float | bool | os.PathLike[str] | list[str] | tuple[str, ...] | None

# The package sets these itself, or the program would ask, wait or print no JSON.
OWN = {"format", "help", "quiet", "from"}
# What the program says beside a result goes to a log, for a warning made an error would lose a result that is paid for.
LOG = logging.getLogger("graphcloak")

SECRET = re.compile(r"(PASSWORD|SECRET|TOKEN|KEY)$")


class GraphCloak:
    """The program at binary, else at the environment's GRAPHCLOAK_BINARY, else graphcloak on PATH.

    env is added to the environment of the program, such as NEO4J_PASSWORD: passwords go this way alone, for other users of
    a machine can see arguments. It raises BinaryNotFoundError where there is no program.

    Every method takes the settings of docs/reference/configuration.md as keywords: node_labels=["Person"] is
    --node-labels Person. True is a bare flag, False is --flag=false, None leaves it out. graph is --from, such
    as "folder:water". A failure of the program raises the GraphCloakError of its exit code; what it says beside
    a result goes to the logger "graphcloak" as a warning.
    """

    def __init__(self, binary: str | os.PathLike[str] | None = None, *, env: Mapping[str, str] | None = None) -> None:
        wanted = os.fspath(binary or os.environ.get("GRAPHCLOAK_BINARY") or "graphcloak")
        found = shutil.which(wanted)
        if found is None:
            raise errors.BinaryNotFoundError(
                f"no program {wanted!r}: give binary=, set GRAPHCLOAK_BINARY, or put graphcloak on PATH by "
                "`go install ./cmd/graphcloak`"
            )
        self.binary = os.path.abspath(found)
        self._env = dict(env or {})

    def run(self, graph: str | None = None, **settings: Setting) -> results.Report:
        """Spends budget, releases, recovers, and writes back as mode says. With mode="stream" the report has nodes."""
        if settings.get("dry_run"):
            raise ValueError('run returns what it found: plan() spends nothing, and call("run", …) returns any JSON')
        return results.read(results.Report, self.call("run", graph=graph, **settings))

    def plan(self, graph: str | None = None, *, output: str | os.PathLike[str] | None = None, **settings: Setting) -> results.Plan:
        """Sensitivity, noise and expected accuracy; spends nothing. output keeps the plan's file."""
        refuse_answers("plan", settings)
        return results.read(results.Plan, self._file("plan", graph, output, settings))

    def plan_answers(
        self, graph: str | None = None, *, answer_property: str, output: str | os.PathLike[str] | None = None, **settings: Setting
    ) -> results.AnswerPlan:
        """plan for people who are asked whether they have heard something; round= and reach= are among its settings."""
        settings["answer_property"] = answer_property
        return results.read(results.AnswerPlan, self._file("plan", graph, output, settings))

    def release(self, graph: str | None = None, *, output: str | os.PathLike[str], **settings: Setting) -> Path:
        """Spends the budget of a plan's file, plan=, and writes the private measurement to output."""
        self._file("release", graph, output, settings)
        return Path(output)

    def recover(self, graph: str | None = None, **settings: Setting) -> results.Report:
        """Where the source likely is, from release= or measurement_property=; costs no privacy."""
        return results.read(results.Report, self.call("recover", graph=graph, **settings))

    def evaluate(self, graph: str | None = None, **settings: Setting) -> results.Evaluation:
        """How often the answer would be right, by simulation; reads no signal and spends nothing."""
        refuse_answers("evaluate", settings)
        return results.read(results.Evaluation, self.call("evaluate", graph=graph, **settings))

    def evaluate_answers(self, graph: str | None = None, *, answer_property: str, **settings: Setting) -> results.AnswerEvaluation:
        """How well whispers would be placed, by simulation; reads no answer and spends nothing."""
        return results.read(results.AnswerEvaluation, self.call("evaluate", graph=graph, answer_property=answer_property, **settings))

    def inspect(self, graph: str | None = None, **settings: Setting) -> results.Inspection:
        """The graph in the paper's terms."""
        return results.read(results.Inspection, self.call("inspect", graph=graph, **settings))

    def runs_list(self, graph: str | None = None, **settings: Setting) -> results.RunList:
        """Every run on a store, latest first."""
        return results.read(results.RunList, self.call("runs", "list", graph=graph, **settings))

    def version(self) -> results.Version:
        return results.read(results.Version, self.call("version"))

    def call(self, *command: str, graph: str | None = None, **settings: Setting) -> dict[str, Any]:
        """Any command that prints one JSON document, such as call("graph", "generate", "example:net3", "water")."""
        document = parse(self._execute([*command, *flags(settings, graph), "--format=json"]))
        if document is None:
            raise errors.AnswerError("the program printed no JSON: does the command write to a file?")
        return document

    def table(self, *command: str, graph: str | None = None, **settings: Setting) -> "Table":
        """The rows that a command prints as CSV, as a pyarrow table: table("recover", …, mode="stream") has a row a node.

        Ids of nodes are strings, those of communities int64, numbers double; null stands for what is missing.
        """
        try:
            from pyarrow import parquet
        except ImportError as e:
            raise ImportError("a table needs pyarrow: pip install pyarrow") from e
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "rows.parquet"
            self._execute([*command, *flags({**settings, "output": path}, graph), "--format=parquet"])
            return parquet.read_table(path)

    def _file(self, command: str, graph: str | None, output: str | os.PathLike[str] | None, settings: dict[str, Setting]) -> dict[str, Any]:
        """Runs a command with output, or a file that does not outlive it, and returns what the file holds."""
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(output) if output is not None else Path(scratch) / "output.json"
            self._execute([command, *flags({**settings, "output": path}, graph), "--format=json"])
            document = parse(path.read_text(encoding="utf-8"))
        if document is None:
            raise errors.AnswerError(f"the program wrote no JSON for {command}")
        return document

    def _execute(self, arguments: list[str]) -> str:
        """Returns standard output. An interrupt is handed on, so that the program ends in order and can be resumed."""
        env = {k: v for k, v in {**os.environ, **self._env, "NO_COLOR": "1"}.items() if k != "GRAPHCLOAK_BINARY"}  # no setting
        child = subprocess.Popen(
            [self.binary, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=env,
            start_new_session=True,  # a terminal's Ctrl-C reaches it once, by this process
        )
        try:
            out, err = child.communicate()
        except BaseException:
            if os.name == "posix":
                child.send_signal(signal.SIGINT)
            else:
                child.terminate()
            child.communicate()
            raise
        if child.returncode != 0:
            raise failure(child.returncode, out, err, env)
        for line in hide(err, env).splitlines():
            if not line.startswith("Progress: "):
                LOG.warning("%s", line)
        return out


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
