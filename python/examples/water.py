# SPDX-License-Identifier: Apache-2.0
"""A water network whose zones stand in a node property, as graphdatascience leaves them. Cells are those of a notebook."""

# %% The graph: a folder of CSV with a planted source.
import csv
from pathlib import Path
from typing import Any

from graphcloak import GraphCloak

gc = GraphCloak()
if not Path("water").exists():
    gc.call("graph", "generate", "example:net3", "water")

# %% Communities as a property. On a Neo4j with the Graph Data Science plugin it is
#
#     G, _ = gds.graph.project("water", "Node", {"PIPE": {"orientation": "UNDIRECTED"}})
#     gds.leiden.write(G, writeProperty="leiden")
#
# Here the same column of integers is made by hand: three zones from west to east.
nodes_csv = Path("water/nodes.csv")
with nodes_csv.open(newline="") as f:
    nodes = list(csv.DictReader(f))
places = sorted(float(n["x"]) for n in nodes)
for n in nodes:
    n["leiden"] = str(sum(float(n["x"]) >= places[len(places) * k // 3] for k in (1, 2)))
with nodes_csv.open("w", newline="") as f:
    writer = csv.DictWriter(f, nodes[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(nodes)

# %% What it would cost and be worth, before anything is spent. A source is known to be there: false_alarm.
settings: dict[str, Any] = {"community_property": "leiden", "tau": 4, "epsilon": 4, "delta": 0.01, "false_alarm": 1}
expected = gc.evaluate("folder:water", trials=200, **settings)
print(f"right in {expected.right.rate:.0%} of simulated runs, by chance in {expected.chance:.0%}")

# %% The run. With mode="write", the default, the properties go back to the nodes.
report = gc.run("folder:water", source_property="source", mode="stream", report="water.html", force=True, **settings)
print(report.answer)

# %% Tables: report.communities_frame() and report.nodes_frame() where pandas is installed.
for community in report.communities:
    print(f"{community.name:>6}  {community.size:3d} nodes  {community.probability:.3f}")
