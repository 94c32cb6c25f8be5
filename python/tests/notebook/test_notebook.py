# SPDX-License-Identifier: Apache-2.0
"""Tests that need networkx, pandas, pyarrow, SciPy, nbclient and ipykernel; .ci/nightly runs them on an installed wheel.

This folder is no package, so that the tests beside it do not find it.
"""

import os
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any

import nbformat
import networkx as nx
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
from graphdatascience.graph.graph_api import Graph
from graphdatascience.graph.graph_backend import GraphBackend
from nbclient import NotebookClient

import graphcloak as g
from graphcloak import graphs, program

NOTEBOOK = Path(__file__).parents[2] / "examples" / "town.ipynb"


class Graphs(unittest.TestCase):
    def test_one_graph_in_every_form(self) -> None:
        """The same ids and relationships are one store, whichever library holds them."""
        graph = nx.path_graph(5)
        nx.set_node_attributes(graph, {n: n / 4 for n in graph}, "heat")
        nx.set_node_attributes(graph, {n: (n, n) for n in graph}, "pos")
        nodes = pd.DataFrame({"id": range(5), "heat": [n / 4 for n in range(5)]})
        ends = pd.DataFrame(graph.edges, columns=["source", "target"])
        matrix = nx.to_scipy_sparse_array(graph, dtype=float)
        folders, gc = set(), g.GraphCloak()
        with self.assertLogs("graphcloak", "WARNING") as log:
            graphs.tables(graph)
        self.assertIn("'pos' is left out", log.output[0])
        forms: list[Any] = [
            nx.path_graph(5), (nodes, ends), (pa.Table.from_pandas(nodes), pa.Table.from_pandas(ends)), matrix, sp.csr_matrix(matrix),
            (nodes, matrix),
        ]  # fmt: skip
        for form in forms:
            with graphs.kept(form, os.environ) as (folder, _):
                folders.add(folder)
                ids = [line.split(",")[0] for line in (folder / "nodes.csv").read_text().splitlines()[1:]]
            self.assertEqual(ids, ["0", "1", "2", "3", "4"])
            self.assertEqual(gc.inspect(form, tau=1).relationship_count, 4)
        self.assertEqual(len(folders), 1)

    def test_values(self) -> None:
        table = pd.DataFrame({"id": [1, 2], "n": pd.array([3, None], dtype="Int64"), "x": [0.5, None], "open": [True, False]})
        self.assertEqual(graphs.lines(graphs.columns(table, graphs.NODE_NAMES)).decode(), "id,n,x,open\n1,3,0.5,true\n2,,,false\n")

    def test_matrix_has_weights(self) -> None:
        nodes, relationships = graphs.matrix(sp.coo_array([[0, 2.5], [2.5, 0]]), {})
        self.assertEqual(relationships, {"source": [0], "target": [1], "weight": [2.5]})
        one_way = graphs.matrix(sp.coo_array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), {"id": ["a", "b", "c"]})[1]
        self.assertEqual((one_way["source"], one_way["target"]), (["a", "b"], ["b", "c"]))
        with self.assertRaisesRegex(ValueError, "a square one is wanted"):
            graphs.matrix(sp.coo_array([[0, 1]]), {})

    def test_graph_of_gds(self) -> None:
        """A projected graph stands for what it was projected from."""

        class Backend(GraphBackend):
            def __init__(self, nodes: list[str], relationships: list[str]) -> None:
                self.schema = {"nodes": dict.fromkeys(nodes, {}), "relationships": dict.fromkeys(relationships, {})}

            def graph_info(self) -> Any:
                return types.SimpleNamespace(graph_schema=self.schema)

            def exists(self) -> bool:
                return True

            def drop(self, fail_if_missing: bool = True) -> None:
                return None

        for nodes, relationships, want in (
            (["Person"], ["KNOWS", "MET"], {"node_labels": ["Person"], "relationship_types": ["KNOWS", "MET"]}),
            (["__ALL__"], ["KNOWS"], {"relationship_types": ["KNOWS"]}),
        ):
            town = Graph("town", Backend(nodes, relationships))
            with graphs.source(town, "run", {"uri": "neo4j://localhost:7687"}, os.environ) as (from_, settings):
                self.assertEqual((from_, settings), (None, {**want, "uri": "neo4j://localhost:7687"}))

    def test_operators(self) -> None:
        """The same entries are one operator in every form, beside a graph in memory; a sensor may read twice."""
        graph, gc = nx.path_graph(4), g.GraphCloak()
        flow = sp.coo_array([[0.5, 0, 0, 0], [0.4, 0.5, 0, 0], [0, 0.3, 0.5, 0], [0, 0, 0.4, 0.5]])
        table = pd.DataFrame({"sensor": flow.row, "node": flow.col, "response": flow.data})
        forms: list[Any] = [flow, flow.tocsr(), ([0, 1, 2, 3], flow), table, pa.Table.from_pandas(table)]
        found = {gc.inspect(graph, operator=form).document["sensitivity"]["upper"] for form in forms}
        self.assertEqual(len(found), 1)
        nx.set_node_attributes(graph, {n: 0.1 * n for n in graph}, "level")
        settings: dict[str, Any] = {"measurement_property": "level", "epsilon": 8, "delta": 0.01, "spend_at_chance": True}
        report = gc.run(graph, operator=[flow, 0.5 * flow], **settings)
        self.assertEqual(len(report.document["graphPosterior"]), 2)
        nodes = pd.DataFrame({"id": range(4), "level": [[0.1, 0.2]] * 4})
        ends = pd.DataFrame(graph.edges, columns=["source", "target"])
        rows = [(n, t) for t in (6, 12) for n in range(4)]
        twice = gc.run((nodes, ends), operator=(rows, sp.vstack([flow, 0.5 * flow])), allocation="uniform", **settings)
        self.assertEqual(twice.sensor_count, 8)
        square = nx.grid_2d_graph(2, 2)
        self.assertEqual(graphs.entries(flow, graphs.tables(square)[0])["sensor"][0], (0, 0))
        self.assertEqual(gc.inspect(square, operator=flow).document["entryCount"], 7)
        with self.assertRaisesRegex(ValueError, "a row a sensor"):
            gc.inspect(graph, operator=sp.coo_array([[1.0]]))
        with self.assertRaisesRegex(TypeError, "give a file"):
            gc.inspect("example:karate", operator=flow)

    def test_attribute_in_the_way(self) -> None:
        graph = nx.path_graph(2)
        graph.nodes[0]["id"] = 5
        with self.assertRaisesRegex(ValueError, "'id'.*rename it"):
            graphs.tables(graph)

    def test_stream_is_a_frame(self) -> None:
        graph = nx.path_graph(30)
        nx.set_node_attributes(graph, {n: int(n == 9) for n in graph}, "began")
        frame = g.GraphCloak().run.stream(graph, source_property="began", tau=1, epsilon=4, delta=0.01, spend_at_chance=True)
        self.assertEqual((len(frame), frame["node_id"].tolist()), (30, [str(n) for n in range(30)]))
        self.assertEqual(set(frame.attrs), {"answer", "run_id"})


class Notebook(unittest.TestCase):
    def test_runs(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            notebook = nbformat.read(NOTEBOOK, as_version=4)
            NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()
        if kept := os.environ.get("NOTEBOOK_OUTPUT"):  # to be looked at
            nbformat.write(notebook, kept)
        cells = [c for c in notebook.cells if c.cell_type == "code"]
        shown = ["".join(o.get("data", {}).get("text/html", "") for o in c.outputs) for c in cells]
        self.assertIn("ranks first in", shown[2])
        named = "No community stands out" not in shown[3]  # as happens to one run in two hundred
        self.assertEqual("data:image/svg+xml;base64," in shown[3], named)
        self.assertIn("What is not protected", shown[3])
        self.assertIn("FINISHED", shown[6])
        if program.OWN.exists():  # of a wheel
            self.assertIn(str(program.OWN), str(cells[0].outputs))


if __name__ == "__main__":
    unittest.main()
