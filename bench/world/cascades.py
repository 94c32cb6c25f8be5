# SPDX-License-Identifier: Apache-2.0
"""Simulates rumours on a graph, by itself: it shares no code with recovery/whisper.

Reads one JSON object from the standard input,

    n        number of people
    edges    [u, v, weight] each
    nature   "si", "ic" or "sir"
    passing  chances that a relationship of weight 1 passes the rumour on (ic, sir),
             from the least to the largest; each rumour draws its own
    from,to  sizes that count. A rumour stops at a size drawn from them,
             log-uniform; one that dies out below the least is drawn again
    trials, seed

and writes a line of JSON for each trial: [source, others who have heard ...].
SI and SIR run event by event (Gillespie), the independent cascade by generations.
"""

import json
import math
import random
import sys


class Rates:
    """Relationships between those who tell and those who have not heard, drawn by weight."""

    def __init__(self, most):
        self.most, self.items, self.place = most, [], {}

    def add(self, key, weight):
        self.place[key] = len(self.items)
        self.items.append((key, weight))

    def discard(self, key):
        k = self.place.pop(key, None)
        if k is None:
            return
        last = self.items.pop()
        if k < len(self.items):
            self.items[k] = last
            self.place[last[0]] = k

    def draw(self, rng):
        while True:
            key, weight = self.items[int(rng.random() * len(self.items))]
            if rng.random() * self.most <= weight:
                return key


def gillespie(near, source, size, recovery, most, rng):
    """Next events by their rates; stops at a size or when nobody tells any more."""
    heard, telling, open_ = {source: None}, Rates(1.0), Rates(most)
    total = 0.0

    def hears(v):
        nonlocal total
        heard[v] = None
        telling.add(v, 1.0)
        for u, w in near[v]:
            if u in heard:
                if (u, v) in open_.place:
                    total -= w
                    open_.discard((u, v))
            else:
                total += w
                open_.add((v, u), w)

    hears(source)
    while len(heard) < size and open_.items:
        quiet = recovery * len(telling.items)
        if rng.random() * (total + quiet) < quiet:
            v = telling.draw(rng)
            telling.discard(v)
            for u, w in near[v]:
                if (v, u) in open_.place:
                    total -= w
                    open_.discard((v, u))
            continue
        hears(open_.draw(rng)[1])
    return list(heard)


def generations(near, source, size, passing, rng):
    heard, last = {source: None}, [source]
    while last:
        following = []
        for v in last:
            for u, w in near[v]:
                if u not in heard and rng.random() < 1 - (1 - passing) ** w:
                    heard[u] = None
                    following.append(u)
                    if len(heard) >= size:
                        return list(heard)
        last = following
    return list(heard)


def main():
    job = json.load(sys.stdin)
    near = [[] for _ in range(job["n"])]
    for u, v, w in job["edges"]:
        near[u].append((v, w))
        near[v].append((u, w))
    most = max(w for _, _, w in job["edges"])
    rng = random.Random(job["seed"])
    low, high = job["from"], job["to"]
    for _ in range(job["trials"]):
        for _ in range(10000):
            low_p, high_p = job["passing"]
            p = low_p * (high_p / low_p) ** rng.random()
            source = rng.randrange(job["n"])
            size = round(low * math.exp(rng.random() * math.log(high / low)))
            if job["nature"] == "si":
                heard = gillespie(near, source, size, 0.0, most, rng)
            elif job["nature"] == "sir":
                heard = gillespie(near, source, size, (1 - p) / p, most, rng)
            else:
                heard = generations(near, source, size, p, rng)
            if len(heard) >= low:
                break
        else:
            sys.exit("no rumour of the sizes that are asked for")
        print(json.dumps(heard))


main()
