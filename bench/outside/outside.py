# SPDX-License-Identifier: Apache-2.0
"""Asks GraphCloak about what other programs made: plumes by EPANET (WNTR), cascades by NDlib. Prints Markdown.

    go build -o /tmp/graphcloak ./cmd/graphcloak
    pip install -r bench/outside/requirements.txt
    python bench/outside/outside.py --binary /tmp/graphcloak --events 32

Each event is a fresh folder and one `graphcloak run --mode stats` on it. A plume is read as heat and by EPANET's own operator,
a cascade as heat and by answers of yes or no. The columns: `right`, the likeliest community holds the source, whether or not
the answer names it; `named`, the answer names one; `sure, wrong`, it names a wrong one with more than .9; `misfit`, it says that
the measurements do not fit, and `doubted`, that or poorly, or not if all sensors are sound; `confidence`, the mean probability of
the likeliest community if there is a source; `chance`, always naming the largest; `at best`, what no test of level .05 exceeds in
`misfit` (`most_power`), or with EPANET's operator no rule in `right` (`most_right`).
Plans are judged by the same operator as a dense matrix (`worst_edge`); one that promises too much for its operator ends the test.
"""

import argparse
import csv
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.linalg import expm
from scipy.stats import norm

ROOT = Path(__file__).resolve().parents[2]
MISFIT = "The measurements do not fit the model"


def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def write(path, table):
    with open(path, "w", newline="") as f:
        w = csv.DictWriter(f, table[0].keys(), lineterminator="\n")
        w.writeheader()
        w.writerows(table)


class Town:
    """A public graph, its communities, and a run on it for each event."""

    def __init__(self, binary, folder, *flags):
        self.binary, self.flags = str(Path(binary).resolve()), flags
        self.nodes, self.relationships = rows(folder / "nodes.csv"), rows(folder / "relationships.csv")
        self.ids = [n["id"] for n in self.nodes]
        found = self.run({v: 0.0 for v in self.ids}, "--measurement-property", "reading", "--tau", "2", "--spend-at-chance",
                         "--mode", "stream")
        self.community = {n["nodeId"]: str(n["communityId"]) for n in found["nodes"]}
        self.chance = max(list(self.community.values()).count(c) for c in self.community.values()) / len(self.ids)

    def call(self, command, readings, *flags):
        """A command on a fresh folder, whose readings are {node: value} or {node: {property: value}}."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch, "town")
            folder.mkdir()
            community = getattr(self, "community", {})
            table = []
            for v in self.ids:
                value = readings.get(v, "")
                table.append({"id": v, "community": community.get(v, "0"), **(value if isinstance(value, dict) else {"reading": value})})
            write(folder / "nodes.csv", table)
            write(folder / "relationships.csv", self.relationships)
            given = ["--community-property", "community"] if community else []
            done = subprocess.run([self.binary, command, "--from", f"folder:{folder}", "--format", "json", *given, *self.flags, *flags],
                                  capture_output=True, text=True, env={**os.environ, "XDG_STATE_HOME": scratch})
        if done.returncode:
            raise RuntimeError(f"{' '.join(done.args)}: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def run(self, readings, *flags):
        return self.call("run", readings, *(() if "--mode" in flags else ("--mode", "stats")), *flags)


def score(town, events, *flags):
    """Runs all (source, readings) and returns the row of a table."""
    right = named = sure = misfit = doubted = confidence = 0
    for source, readings in events:
        r = town.run(readings, *flags)
        top = r["communities"][0]
        good, says = top["name"] == town.community[source], r["answer"].startswith(MISFIT)
        names = not says and not r["answer"].startswith("No ")
        right, named, misfit = right + good, named + names, misfit + says
        doubted += says or "fit the model poorly" in r["answer"] or "were all sound" in r["answer"]
        sure += names and not good and top["probability"] > .9
        confidence += top["probability"] / r.get("presence", {}).get("probability", 1)
    return [f"{x / len(events):.2f}" for x in (right, named, sure, misfit, doubted, confidence)] + [f"{town.chance:.2f}", str(len(events))]


COLUMNS = ["right", "named", "sure, wrong", "misfit", "doubted", "confidence", "chance", "events"]


# Plumes.


def transport(network, folder, *flags):
    """EPANET's operators of a network, by examples/epanet."""
    subprocess.run([sys.executable, str(ROOT / "examples/epanet/transport.py"), network, str(folder), *flags], check=True)
    return sorted(folder.glob("operator*.csv"))


class Operator:
    """A file of responses as a dense matrix: a row for each sensor and time, a column for each node."""

    def __init__(self, path, ids):
        entries = rows(path)
        self.rows = sorted({(r["sensor"], r.get("time", "")) for r in entries})
        self.times = sorted({t for _, t in self.rows}, key=lambda t: float(t or 0))
        row, column = {k: i for i, k in enumerate(self.rows)}, {v: j for j, v in enumerate(ids)}
        self.matrix = np.zeros((len(row), len(ids)))
        for r in entries:
            self.matrix[row[r["sensor"], r.get("time", "")], column[r["node"]]] = float(r["response"])

    def events(self, ids, count):
        """Unit sources at nodes that can be read at all, evenly taken: the source and what every node reads, 0 where it is no sensor."""
        seen = [j for j in range(len(ids)) if self.matrix[:, j].any()]
        for k in range(min(count, len(seen))):
            j = seen[k * len(seen) // min(count, len(seen))]
            read = dict(zip(self.rows, self.matrix[:, j], strict=True))
            series = {v: [read.get((v, t), 0.0) for t in self.times] for v in ids}
            yield ids[j], {v: {"readings": ";".join(map(str, series[v])), "last": series[v][-1]} for v in ids}


def gaussian_delta(epsilon, mu):
    """Hockey-stick divergence of N(mu, 1) and N(0, 1) at e^ε (Balle & Wang 2018), exact but for rounding."""
    return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu))


def worst_edge(town, matrix, sigma):
    """The largest ‖Σ^{-1/2} M (e_i − e_j)‖ over relationships, and which it is; sensors that are silent have σ = ∞."""
    column = {v: j for j, v in enumerate(town.ids)}
    white = matrix / sigma[:, None]
    pairs = [(r["source"], r["target"]) for r in town.relationships if r["source"] != r["target"]]
    lengths = [np.linalg.norm(white[:, column[a]] - white[:, column[b]]) for a, b in pairs]
    k = int(np.argmax(lengths))
    return lengths[k], pairs[k]


def true_epsilon(mu, delta):
    """The ε at which a Gaussian release with that distance is (ε, δ)-private."""
    low, high = 0.0, mu * mu / 2 + 10 * mu + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mu) > delta else (low, middle)
    return high


def certify(town, operator, readings, *flags):
    """A plan, of heat or of an operator, judged by that operator: the worst distance, its relationship, true ε, δ at the plan's ε."""
    plan = town.call("plan", readings, *flags)
    each = {s["nodeId"]: s["sigma"] for s in plan["sensors"]}
    heat, last = "--operator" not in flags, operator.times[-1]
    names = [s if heat and t == last or not t else f"{s}@{t}" for s, t in operator.rows]  # heat releases the last readings alone
    mu, pair = worst_edge(town, operator.matrix, np.array([each.get(name, np.inf) for name in names]))
    return mu, pair, true_epsilon(mu, plan["delta"]), gaussian_delta(plan["epsilon"], mu), each


def most_power(town, events, sigma, tau, level=.05):
    """Bounds the mean power over events of any test of heat from one source or none, of that level at each source and faults.

    A test has at most that of J. Neyman and E. S. Pearson (1933) against any law that it must pass. Tried are all sources, 21
    amplitudes, and as many faults as a run expects, .048 of sensors, or fewer: those that explain most, unless fewer than 1 in
    100 random sets have as many pairs of neighbours.
    """
    graph = nx.MultiGraph((r["source"], r["target"]) for r in town.relationships)
    near = nx.to_numpy_array(nx.Graph(graph), nodelist=town.ids)
    noise = np.array([sigma[v] for v in town.ids])
    heat = expm(-tau * nx.laplacian_matrix(graph, nodelist=town.ids).toarray().astype(float))
    laws = np.concatenate([a * heat.T for a in np.linspace(0, 1, 21)]) / noise
    draw, power, faults = np.random.default_rng(0), [], range(int(.048 * len(town.ids)) + 1)
    sets = [[draw.choice(len(noise), k, replace=False) for _ in range(999)] for k in faults]
    pairs = [[near[np.ix_(s, s)].sum() for s in of] for of in sets]
    for _, readings in events:
        off = (np.array([readings[v]["last"] for v in town.ids]) / noise - laws) ** 2
        order = np.argsort(-off, axis=1)
        left = np.take_along_axis(off, order, axis=1)
        least = math.inf
        for k in faults:
            law = left[:, k:].sum(axis=1).argmin()
            worst = order[law, :k]
            if np.mean(pairs[k] >= near[np.ix_(worst, worst)].sum()) >= .01:
                least = min(least, left[law, k:].sum())
        power.append(norm.cdf(math.sqrt(least) - norm.isf(level)))
    return np.mean(power)


def most_right(town, operator, sigma):
    """What no rule exceeds in `right` for strength 1 and sound sensors, on average over nodes that are read: Bayes' rule, simulated."""
    noise = np.array([sigma.get(f"{s}@{t}" if t else s, np.inf) for s, t in operator.rows])
    seen = operator.matrix.any(axis=0)
    white = operator.matrix[:, seen] / noise[:, None]
    names = np.array([town.community[v] for v in town.ids])[seen]
    member = (names[:, None] == np.unique(names)).astype(float)
    draw = np.random.default_rng(0)
    source = draw.integers(len(names), size=40000)
    logs = (white[:, source].T + draw.standard_normal((len(source), len(noise)))) @ white - (white ** 2).sum(axis=0) / 2
    best = (np.exp(logs - logs.max(axis=1, keepdims=True)) @ member).argmax(axis=1)
    return member[source, best].mean()


# Cascades.


def cascade_events(town, nature, count, seed):
    """Snapshots of NDlib's cascades when a tenth to four tenths have heard; who has recovered has heard."""
    from ndlib.models import ModelConfig, epidemics

    graph = nx.Graph((r["source"], r["target"]) for r in town.relationships)
    graph.add_nodes_from(town.ids)
    draw = random.Random(seed)
    while count > 0:
        source, size = draw.choice(town.ids), len(town.ids) * draw.uniform(.1, .4)
        random.seed(draw.random())
        np.random.seed(draw.randrange(2**32))
        model = epidemics.SIModel(graph) if nature == "SI" else epidemics.SIRModel(graph)
        config = ModelConfig.Configuration()
        config.add_model_parameter("beta", .05)
        if nature == "SIR":
            config.add_model_parameter("gamma", .02)
        config.add_model_initial_configuration("Infected", [source])
        model.set_initial_status(config)
        for _ in range(1000):
            heard = {v for v, state in model.status.items() if state > 0}
            if len(heard) >= size:
                count -= 1
                yield source, {v: int(v in heard) for v in town.ids}
                break
            if 1 not in model.status.values():
                break  # it died out; draw another
            model.iteration()


def plumes(args, network, folder):
    """A network's plumes, read as heat by the defaults and by EPANET's operator; and what each plan is worth against it."""
    read, promised, town = [], [], None
    for kind in args.sources:
        path, = transport(network, folder / kind, "--source", kind, "--unit", args.unit, *args.transport.split())
        town = town or Town(args.binary, folder / kind)
        operator = Operator(path, town.ids)
        events = list(operator.events(town.ids, args.events))
        ways = [("heat, τ = 2", "last", "--tau", "2"), ("heat, τ = 4", "last", "--tau", "4"),
                ("operator", "readings", "--operator", str(path))]
        for (way, reading, *flags), epsilon in itertools.product([w for w in ways if w[0].split(",")[0] in args.ways], args.epsilon):
            flags += ["--measurement-property", reading, "--epsilon", str(epsilon), "--delta", "0.001"]
            mu, pair, true, delta, sigma = certify(town, operator, events[0][1], *flags)
            if way == "operator" and delta > 0.001 * (1 + 1e-9):
                sys.exit(f"{network}, {kind}, ε = {epsilon}: the plan is ({epsilon}, {delta})-private between {pair}, and promises δ = 0.001")
            name = [network, kind, way, f"{epsilon:g}"]
            promised.append([*name, f"{true:.4g}", f"{delta:.3g}", f"{mu:.4f}", " – ".join(pair)])
            best = most_right(town, operator, sigma) if way == "operator" else most_power(town, events, sigma, float(flags[1]))
            read.append(name + score(town, events, *flags, "--spend-at-chance") + [f"{best:.2f}"])
            print(read[-1], promised[-1], file=sys.stderr, flush=True)
    return read, promised


def cascades(args, name, folder):
    """Cascades on a graph, read as heat by the defaults and by answers of yes or no."""
    town, read = Town(args.binary, folder), []
    for nature in ("SI", "SIR"):
        events = list(cascade_events(town, nature, args.events, args.seed))
        for way, flags in (("heat, τ = 2, ε = 4", ["--measurement-property", "reading", "--tau", "2", "--epsilon", "4", "--delta", "0.001"]),
                           ("answers, ε = 2", ["--answer-property", "reading", "--epsilon", "2"])):
            read.append([name, nature, way] + score(town, events, *flags, "--spend-at-chance"))
            print(read[-1], file=sys.stderr, flush=True)
    return read


def print_table(title, header, lines):
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--binary", default="graphcloak")
    p.add_argument("--networks", nargs="*", default=["Net3"], help="of WNTR, or .inp files; Net6 takes two hours a source, with "
                   "--transport '--hours 24 --quality-step 300'")
    p.add_argument("--graphs", nargs="*", default=["karate", "lfr"], help="folders of examples/data for cascades")
    p.add_argument("--sources", nargs="+", default=["steady", "pulse", "mass"])
    p.add_argument("--ways", nargs="+", default=["heat", "operator"])
    p.add_argument("--transport", default="--hours 24", help="more flags of examples/epanet/transport.py")
    p.add_argument("--unit", default="total", help="of strength, as there")
    p.add_argument("--epsilon", type=float, nargs="+", default=[4, 10])
    p.add_argument("--events", type=int, default=32, help="for each row")
    p.add_argument("--seed", type=int, default=1, help="of cascades; noise is fresh")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        for network in args.networks:
            read, promised = plumes(args, network, Path(scratch, Path(network).stem))
            print_table(f"Plumes, {args.transport}, δ = 0.001, strength by {args.unit}:",
                        ["network", "source", "read as", "ε", *COLUMNS, "at best"], read)
            print_table("The same plans against EPANET's operator, by an independent dense computation:",
                        ["network", "source", "planned for", "ε", "true ε at δ = 0.001", "true δ at ε", "‖Σ^{-1/2}M(e_i − e_j)‖", "worst"],
                        promised)
        read = [line for name in args.graphs for line in cascades(args, name, ROOT / "examples/data" / name)]
        if read:
            print_table(f"Cascades by NDlib, seed {args.seed}:", ["graph", "cascade", "read as", *COLUMNS], read)


if __name__ == "__main__":
    main()
