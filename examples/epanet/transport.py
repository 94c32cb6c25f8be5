# SPDX-License-Identifier: Apache-2.0
"""Makes what GraphCloak reads of a water network: its graph as a folder, and EPANET's transport as a public linear operator.

    pip install -r requirements.txt
    python transport.py Net3 water --hours 24
    python transport.py town.inp town --hours 6 12 24 --source pulse --minutes 60 --demand-multiplier 0.8 1 1.2 --event 121

Writes nodes.csv, relationships.csv (lengths of pipes in metres) and operator.csv, or for several multipliers operator-0.8.csv
and so on, alternatives with the same sensors and times. `response` is what the sensor reads, in mg/L, of a source of strength 1
at the node: what leaves it is brought to 1 mg/L, always (`steady`) or in the first minutes (`pulse`), or 1 kg is added in the
first minutes (`mass`). With --unit total a source of strength 1 is instead one whose readings add up to 1, as those of heat do:
the same strength at two nodes is then as much to be read, where by concentration a main outdoes a dead end many times, and so
makes the noise. EPANET is linear in the strength, but for its quality tolerance, 1e-6 mg/L here, and for reactions
that are not of first order. A front may come a quality step early or late. Responses below --drop mg/L are left out: a
reading errs by less than that, and by 5e-7 of itself, for each unit of strength. An --event writes private readings of one source into nodes.csv.
"""

import argparse
import csv
import tempfile
from collections import Counter
from pathlib import Path

import wntr
from wntr.epanet.toolkit import ENepanet

STRENGTH, QUALITY = 5, 12  # of a node, in EPANET's toolkit


def responses(args, multiplier):
    """Lists (sensor, node, hour, response) for a unit source at each node by itself, under demands times the multiplier."""
    wn = wntr.network.WaterNetworkModel(args.network)
    time, steps = wn.options.time, lambda seconds: round(seconds / wn.options.time.pattern_timestep)
    wn.options.quality.parameter, wn.options.quality.tolerance = "CHEMICAL", 1e-6
    wn.options.hydraulic.demand_multiplier *= multiplier
    time.duration, time.quality_timestep = max(args.hours) * 3600, args.quality_step
    on = steps(time.duration) + 1 if args.source == "steady" else steps(60 * args.minutes)
    wn.add_pattern("injection", [0] * steps(time.pattern_start) + [1] * on + [0] * (steps(time.duration) + 1 - on))
    for name in wn.source_name_list:
        wn.remove_source(name)
    for name, node in wn.nodes():
        node.initial_quality = 0
        wn.add_source(f"at {name}", name, "MASS" if args.source == "mass" else "SETPOINT", 0, "injection")
    strength = 1e6 / args.minutes if args.source == "mass" else 1  # mg/min or mg/L
    with tempfile.TemporaryDirectory() as scratch:
        inp, rpt, out = (str(Path(scratch, f"a.{end}")) for end in ("inp", "rpt", "bin"))
        wntr.network.write_inpfile(wn, inp, version=2.2)
        epanet = ENepanet(version=2.2)
        epanet.ENopen(inp, rpt, out)
        epanet.ENsolveH()
        index = {name: epanet.ENgetnodeindex(name) for name in wn.node_name_list}
        rows = []
        for node in index:
            epanet.ENsetnodevalue(index[node], STRENGTH, strength)
            epanet.ENopenQ()
            epanet.ENinitQ(0)
            while True:
                hour = epanet.ENrunQ() / 3600
                if hour in args.hours:
                    read = ((s, epanet.ENgetnodevalue(index[s], QUALITY)) for s in args.sensors or index)
                    rows += [(s, node, f"{hour:g}", r) for s, r in read if r >= args.drop]
                if epanet.ENnextQ() == 0:
                    break
            epanet.ENcloseQ()
            epanet.ENsetnodevalue(index[node], STRENGTH, 0)
        epanet.ENclose()
    if args.unit == "total":
        total = Counter()
        for _, node, _, response in rows:
            total[node] += response
        rows = [(s, node, hour, r / total[node]) for s, node, hour, r in rows if total[node] >= 1e-3]
    silent = {(s, f"{h:g}") for s in args.sensors or index for h in args.hours} - {(s, hour) for s, _, hour, _ in rows}
    return rows + [(s, s, hour, 0.0) for s, hour in sorted(silent)]  # the same sensors and times in every file


def write(path, header, rows):
    with open(path, "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([header, *rows])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("network", help="an .inp file, or Net1, Net2, Net3, Net6 of WNTR")
    p.add_argument("folder", type=Path)
    p.add_argument("--hours", type=float, nargs="+", default=[24], help="when sensors are read; several: a column `time`")
    p.add_argument("--sensors", nargs="+", help="nodes that are read; not given: all")
    p.add_argument("--source", choices=["steady", "pulse", "mass"], default="steady")
    p.add_argument("--minutes", type=float, default=60, help="how long a pulse or mass lasts, in steps of the .inp's patterns")
    p.add_argument("--unit", choices=["mg/L", "total"], default="mg/L", help="of the strength")
    p.add_argument("--demand-multiplier", type=float, nargs="+", default=[1], help="several: alternatives")
    p.add_argument("--quality-step", type=int, default=60, help="seconds")
    p.add_argument("--drop", type=float, default=1e-6)
    p.add_argument("--event", help="node of a source whose readings nodes.csv gets as `level`, one for each hour")
    args = p.parse_args()
    wn, several = wntr.network.WaterNetworkModel(args.network), len(args.hours) > 1
    level = {}
    args.folder.mkdir(parents=True, exist_ok=True)
    for m in args.demand_multiplier:
        rows = responses(args, m)
        name = f"operator-{m:g}.csv" if len(args.demand_multiplier) > 1 else "operator.csv"
        header = ["sensor", "node", "response"] + ["time"] * several
        write(args.folder / name, header, ([s, n, f"{r:.6g}"] + [h] * several for s, n, h, r in rows))
        level = level or {(s, h): r for s, n, h, r in rows if n == args.event}
    times = [f"{h:g}" for h in sorted(args.hours)]
    write(args.folder / "nodes.csv", ["id", "name", "x", "y"] + ["level"] * bool(args.event),
          ([n, f"{v.node_type} {n}", *v.coordinates] + [";".join(f"{level.get((n, h), 0):.6g}" for h in times)] * bool(args.event)
           for n, v in wn.nodes()))
    write(args.folder / "relationships.csv", ["source", "target", "type", "length"],
          ([e.start_node_name, e.end_node_name, e.link_type.upper(), getattr(e, "length", "")] for _, e in wn.links()))


if __name__ == "__main__":
    main()
