# SPDX-License-Identifier: Apache-2.0
"""Graphs of other libraries as the program's folders of CSV. None of the libraries is imported here."""

import contextlib
import csv
import hashlib
import io
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

LOG = logging.getLogger("graphcloak")
Columns = dict[str, Sequence[Any]]



class Sparse(Protocol):
    """A SciPy sparse matrix."""

    def tocoo(self) -> Any: ...


class Frame(Protocol):
    """A pandas frame."""

    def to_dict(self, orient: Any, /) -> Any: ...


class Arrow(Protocol):
    """A pyarrow table."""

    def to_pydict(self) -> Any: ...


Entries = Sparse | Frame | Arrow | Mapping[str, Sequence[Any]]

# The names of graphdatascience's gds.graph.construct, and those of the folder's files.
NODE_NAMES = {"nodeId": "id"}
RELATIONSHIP_NAMES = {"sourceNodeId": "source", "targetNodeId": "target", "relationshipType": "type"}


def of(graph: object, library: str) -> bool:
    """Says whether an object is of a library, which need not be installed."""
    return any(c.__module__.split(".")[0] == library for c in type(graph).__mro__)


def tables(graph: Any) -> tuple[Columns, Columns, bool]:
    """Returns the columns of nodes and of relationships, and whether relationships have weights that count.

    graph is a networkx graph, a square SciPy sparse matrix of weights, or a pair of nodes and either relationships or such
    a matrix, whose rows are the nodes in their order. Nodes and relationships are pandas frames, pyarrow tables or mappings
    of columns. A graph of another kind raises TypeError, one that cannot be written ValueError.
    """
    if of(graph, "networkx"):
        nodes = records(("id",), (((n,), d) for n, d in graph.nodes(data=True)), "nodes")
        return nodes, records(("source", "target"), (((u, v), d) for u, v, d in graph.edges(data=True)), "relationships"), False
    if of(graph, "scipy"):
        return *matrix(graph, {}), True
    if isinstance(graph, (tuple, list)) and len(graph) == 2:
        nodes = columns(graph[0], NODE_NAMES)
        if of(graph[1], "scipy"):
            return *matrix(graph[1], nodes), True
        relationships = columns(graph[1], RELATIONSHIP_NAMES)
        for table, wanted, what in (
            (nodes, "id", "nodes"),
            (relationships, "source", "relationships"),
            (relationships, "target", "relationships"),
        ):
            if wanted not in table:
                raise ValueError(f"the {what} have no column {wanted!r}")
        return nodes, relationships, False
    raise TypeError(
        f"{type(graph).__name__} is no graph: give a networkx graph, (nodes, relationships) as frames, a SciPy sparse matrix, "
        'a folder\'s path, "example:NAME" or an address such as "neo4j://localhost:7687"'
    )


def entries(operator: Any, nodes: Columns) -> Columns:
    """Returns the entries of a given operator: columns sensor, node, response and, where sensors read several times, time.

    operator is a table of these columns; a SciPy sparse matrix with a row and a column a node, in the order of the graph's; or
    a pair of the rows' sensors, each an id or an id and a time, and such a matrix with a column a node.
    """
    ids = nodes["id"]
    timed: list[tuple[Any, Any]] = [(i, None) for i in ids]  # an id may be a tuple itself
    if isinstance(operator, tuple) and len(operator) == 2 and of(operator[1], "scipy"):
        timed, operator = [row if isinstance(row, tuple) else (row, None) for row in operator[0]], operator[1]
    if not of(operator, "scipy"):
        return columns(operator, {})
    coo = operator.tocoo()
    coo.sum_duplicates()
    if coo.shape != (len(timed), len(ids)):
        want = f"a row a sensor ({len(timed)}) and a column a node ({len(ids)})"
        raise ValueError(f"the operator is {coo.shape[0]} by {coo.shape[1]}: {want} are wanted")
    found: Columns = {
        "sensor": [timed[i][0] for i in coo.row.tolist()],
        "node": [ids[j] for j in coo.col.tolist()],
        "response": coo.data.tolist(),
    }
    if any(time is not None for _, time in timed):
        found["time"] = [timed[i][1] for i in coo.row.tolist()]
    return found


def records(keys: tuple[str, ...], rows: Any, what: str) -> Columns:
    """Returns rows of keys and attributes as columns. Attributes that are no single values are left out, with a warning."""
    rows = list(rows)
    names = list(dict.fromkeys(str(name) for _, attributes in rows for name in attributes))
    if taken := set(keys) & set(names):
        raise ValueError(f"{what} have the attribute {sorted(taken)[0]!r}, which names a column of the program's own: rename it")
    found: Columns = {key: [row[i] for row, _ in rows] for i, key in enumerate(keys)}
    for name in names:
        values = [attributes.get(name) for _, attributes in rows]
        if any(isinstance(v, (tuple, set, dict)) for v in values):
            LOG.warning("%s: the attribute %r is left out, for it holds more than one value", what, name)
        else:
            found[name] = values
    return found


def columns(table: Any, names: Mapping[str, str]) -> Columns:
    """Returns the columns of a pandas frame, a pyarrow table or a mapping, under the folder's names."""
    if of(table, "pandas"):
        table = table.to_dict("list")
    elif of(table, "pyarrow"):
        table = table.to_pydict()
    if not isinstance(table, Mapping):
        raise TypeError(f"{type(table).__name__} is no table: give a pandas frame, a pyarrow table or a mapping of columns")
    found = {names.get(str(k), str(k)): v for k, v in table.items()}
    if len({len(v) for v in found.values()}) > 1 or len(found) < len(table):
        raise ValueError("the columns differ in length, or two have one name")
    return found


def matrix(weights: Any, nodes: Columns) -> tuple[Columns, Columns]:
    """Returns the tables of a sparse matrix. Of a symmetric one each relationship is taken once."""
    entries = weights.tocoo()
    entries.sum_duplicates()
    rows, cols, data = entries.row.tolist(), entries.col.tolist(), entries.data.tolist()
    count = entries.shape[0]
    size = len(next(iter(nodes.values()))) if nodes else count
    if entries.shape != (size, size):
        raise ValueError(f"the matrix is {entries.shape[0]} by {entries.shape[1]}: a square one is wanted, with a row a node ({size})")
    weight = {(i, j): w for i, j, w in zip(rows, cols, data, strict=True) if w != 0}
    if all(weight.get((j, i)) == w for (i, j), w in weight.items()):
        weight = {(i, j): w for (i, j), w in weight.items() if i <= j}
    nodes = {**({} if "id" in nodes else {"id": range(size)}), **nodes}
    ids = nodes["id"]
    return nodes, {"source": [ids[i] for i, _ in weight], "target": [ids[j] for _, j in weight], "weight": list(weight.values())}


def text(value: Any) -> str:
    """Returns a value as the folder's files hold it: nothing for what is missing."""
    if hasattr(value, "tolist"):  # a number or an array of NumPy
        value = value.tolist()
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):  # labels
        return ";".join(value)
    if isinstance(value, list):  # readings
        return ";".join(map(text, value))
    return str(value)


def lines(table: Columns) -> bytes:
    """Returns columns as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*([text(v) for v in column] for column in table.values()), strict=True))
    return out.getvalue().encode()


def digest(nodes: Columns, relationships: Columns) -> str:
    """Returns what names a graph: its ids and its relationships, whatever their order, direction and properties."""
    ids = sorted(text(v) for v in nodes["id"])
    if len(set(ids)) < len(ids):
        raise ValueError("two nodes have one id")
    ends = zip(relationships["source"], relationships["target"], strict=True)
    pairs = sorted(sorted((text(a), text(b))) for a, b in ends)
    return hashlib.sha256(repr((ids, pairs)).encode()).hexdigest()[:32]


def state(env: Mapping[str, str]) -> Path:
    """Returns the program's folder for state, as docs/reference/files.md says."""
    if base := env.get("XDG_STATE_HOME"):
        return Path(base) / "graphcloak"
    if service := env.get("STATE_DIRECTORY", "").split(":")[0]:
        return Path(service)
    return Path.home() / ".local" / "state" / "graphcloak"


@contextlib.contextmanager
def kept(graph: object, env: Mapping[str, str]) -> Iterator[tuple[Path, bool]]:
    """Writes a graph into a folder of its own, and yields that and whether relationships have weights.

    The folder stays, with the ledger and what a resumed run needs: the same ids and relationships give the same one, whatever
    the properties. While it is in use another call on the same graph waits, for it may bring another signal.
    """
    nodes, relationships, weighted = tables(graph)
    folder = state(env) / "graphs" / f"memory-{digest(nodes, relationships)}"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(folder.with_suffix(".lock")):
        for name, table in (("nodes.csv", nodes), ("relationships.csv", relationships)):
            keep(folder / name, lines(table))
        yield folder, weighted


def keep(path: Path, content: bytes) -> None:
    """Writes a file that is whole or absent, unless it holds the content."""
    if not path.exists() or path.read_bytes() != content:
        fresh = path.with_name(path.name + ".new")
        fresh.touch(mode=0o600)
        fresh.write_bytes(content)
        fresh.replace(path)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of a file, which the system lets go when the process ends."""
    with open(path, "a+b") as f:
        if sys.platform == "win32":
            import msvcrt

            f.seek(0)
            while True:
                with contextlib.suppress(OSError):  # it waits for ten seconds
                    msvcrt.locking(f.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            fcntl.flock(f, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def source(graph: object, command: str, settings: dict[str, Any], env: Mapping[str, str]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yields --from and the settings for a graph of any kind."""
    if graph is None or isinstance(graph, str) and not is_address(graph) and not is_folder(graph):
        yield graph, settings
    elif isinstance(graph, str) and is_address(graph):
        yield None, {"uri": graph, **settings}
    elif of(graph, "graphdatascience"):
        yield None, {**projected(graph), **settings}
    elif isinstance(graph, (str, os.PathLike)):
        yield f"folder:{os.fspath(graph)}", settings
    else:
        if settings.get("mode") == "write":
            raise ValueError("a graph in memory takes nothing back: use stream, and join nodes_frame() by node_id")
        with kept(graph, env) as (folder, weighted):
            settings = with_operators(graph, settings, folder)
            more = {"relationship_weight_property": "weight"} if weighted and command not in ("runs", "budget") else {}
            if command == "run":
                more["mode"] = "stream"
            yield f"folder:{folder}", {**more, **settings}


def projected(graph: Any) -> dict[str, Any]:
    """Returns the settings that select in the database what a Graph of graphdatascience was projected from."""
    chosen = {"node_labels": graph.node_labels(), "relationship_types": graph.relationship_types()}
    return {name: names for name, names in chosen.items() if names != ["__ALL__"]}


def with_operators(graph: object, settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Writes operators in memory into files beside the graph's, and returns the settings that name them."""
    given = settings.get("operator")
    if given is None:
        return settings
    nodes = tables(graph)[0]
    named = []
    for operator in given if isinstance(given, list) else [given]:
        if isinstance(operator, (str, os.PathLike)):
            named.append(os.fspath(operator))
            continue
        content = lines(entries(operator, nodes))
        path = folder / f"operator-{hashlib.sha256(content).hexdigest()[:16]}.csv"
        keep(path, content)
        named.append(str(path))
    return {**settings, "operator": named}


def is_address(text: str) -> bool:
    return re.match(r"(neo4j|bolt)(\+s|\+ssc)?://", text) is not None


def is_folder(text: str) -> bool:
    return ":" not in text and Path(text).is_dir()
