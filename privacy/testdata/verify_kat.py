#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reproduces the known answers of noise_kat.json and answer_kat.json; nothing of it is GraphCloak's code.

Python's standard library only. Key derivation follows RFC 5869 and RFC 8439; the
sampler is checked against its definition, N = floor(S*Phi^-1(U) + 1/2), with
Phi(t) = 1/2 + phi(t)*(t + t^3/3 + t^5/(3*5) + ...) in decimals of 120 digits. The
bits of U are read 64 at a time until the definition decides. An answer is turned round
where U < 1/(1 + e^epsilon), in decimals of 700 digits, for the largest multiple of 2^-40
that is at most the given epsilon.

    python3 verify_kat.py
"""

import hashlib
import hmac
import json
import os
import struct
import sys
from decimal import Decimal, getcontext, localcontext
from math import floor
from statistics import NormalDist

getcontext().prec = 160
DIGITS = Decimal(10) ** -120


def lp(*parts):
    return b"".join(struct.pack(">I", len(p)) + p for p in parts)


def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def expand(key, info):
    return mac(key, info + b"\x01")  # HKDF-Expand to 32 bytes is one block


def chacha_block(key, counter):
    def quarter(x, a, b, c, d):
        for p, q, r, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] = (x[p] + x[q]) & 0xFFFFFFFF
            v = x[r] ^ x[p]
            x[r] = (v << n | v >> (32 - n)) & 0xFFFFFFFF

    start = list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", key)) + [counter, 0, 0, 0]
    x = start[:]
    for _ in range(10):
        for column in range(4):
            quarter(x, column, column + 4, column + 8, column + 12)
        quarter(x, 0, 5, 10, 15)
        quarter(x, 1, 6, 11, 12)
        quarter(x, 2, 7, 8, 13)
        quarter(x, 3, 4, 9, 14)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(x, start)))


def pi():
    """Gauss and Legendre's iteration."""
    a, b, t, p = Decimal(1), Decimal(1) / Decimal(2).sqrt(), Decimal("0.25"), Decimal(1)
    for _ in range(9):
        m = (a + b) / 2
        b = (a * b).sqrt()
        t -= p * (a - m) ** 2
        a, p = m, 2 * p
    return (a + b) ** 2 / (4 * t)


ROOT_2PI = (2 * pi()).sqrt()


def cdf(num, den):
    t = Decimal(abs(num)) / Decimal(den)
    term = total = t
    k = 1
    while term > DIGITS / 10**20:
        k += 2
        term *= t * t / k
        total += term
    half = total * (-t * t / 2).exp() / ROOT_2PI
    return Decimal("0.5") + (half if num >= 0 else -half)


def decide(u, bits, steps):
    """The N whose cell holds all of [u, u+1]/2^bits, or None."""
    lo, hi = Decimal(u) / 2**bits, Decimal(u + 1) / 2**bits
    tail = min(u, 2**bits - 1 - u)
    if tail == 0:
        return None
    z = NormalDist().inv_cdf(float((Decimal(tail) + Decimal("0.5")) / 2**bits))
    guess = round((z if u == tail else -z) * steps)
    left, right, step = guess, guess + 1, 1
    while cdf(2 * left - 1, 2 * steps) > lo:  # boundary of cell left, from below
        left, step = left - step, 2 * step
    step = 1
    while cdf(2 * right - 1, 2 * steps) <= lo:
        right, step = right + step, 2 * step
    while right - left > 1:
        middle = (left + right) // 2
        if cdf(2 * middle - 1, 2 * steps) <= lo:
            left = middle
        else:
            right = middle
    sure = lo - cdf(2 * left - 1, 2 * steps) > DIGITS and cdf(2 * left + 1, 2 * steps) - hi > DIGITS
    return left if sure else None


def sample(words, steps):
    u = bits = 0
    for word in words:
        u, bits = u << 64 | word, bits + 64
        n = decide(u, bits, steps)
        if n is not None:
            return n
    raise ValueError("the words given decide nothing")


def flip(words, epsilon):
    """Whether U < 1/(1 + e^epsilon), and how many words decide it."""
    with localcontext() as c:
        c.prec = 700
        chance = 1 / (1 + (Decimal(floor(epsilon * 2**40)) / 2**40).exp())
        u = bits = 0
        for word in words:
            u, bits = u << 64 | word, bits + 64
            if Decimal(u + 1) <= chance * 2**bits:
                return True, bits // 64
            if Decimal(u) >= chance * 2**bits:
                return False, bits // 64
    raise ValueError("the words given decide nothing")


def answers(kat, root, check):
    for i, c in enumerate(kat["coins"]):
        words = [int(w, 16) for w in c["words"]]
        check(f"coin {i}", flip(words, c["epsilon"]), (c["flip"], len(words)))
    for i, v in enumerate(kat["keyed"]):
        epsilon = struct.pack(">d", v["epsilon"]).hex()
        text = f"graphcloak-calibration/v1\nmechanism=randomized-response\nepsilon={epsilon}\nround={v['round']}\nrumour={v['rumour']}\n"
        calibration, release = hashlib.sha256(text.encode()).digest(), v["release"].encode()
        person = expand(root, lp(b"graphcloak/v1/sensor", b"kat", struct.pack(">I", 1), v["person"].encode()))
        nonce = mac(person, lp(b"graphcloak/v1/siv", release, calibration, struct.pack(">q", int(v["truth"]))))[:16]
        stream = chacha_block(expand(person, lp(b"graphcloak/v1/noise", release, calibration, nonce)), 0)
        check(f"answer {i}, nonce", nonce.hex(), v["nonce"])
        check(f"answer {i}, stream", stream[:32].hex(), v["stream_first_32_bytes"])
        check(f"answer {i}, flip", flip(struct.unpack(">8Q", stream), v["epsilon"])[0], v["flip"])


def read(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as f:
        return json.load(f)


def main():
    kat, kept = read("noise_kat.json"), read("answer_kat.json")
    wrong = 0

    def check(what, got, want):
        nonlocal wrong
        if got != want:
            wrong += 1
            print(f"{what}: got {got}, want {want}")

    root = mac(b"graphcloak/v1/root", bytes(range(32)))  # HKDF-Extract
    check("root", root.hex(), kat["root"])
    calibration = hashlib.sha256(kat["calibration_text"].encode()).digest()
    check("calibration", calibration.hex(), kat["calibration_sha256"])
    for i, v in enumerate(kat["vectors"]):
        release = v["release"].encode()
        sensor = expand(root, lp(b"graphcloak/v1/sensor", b"kat", struct.pack(">I", 1), v["sensor"].encode()))
        nonce = mac(sensor, lp(b"graphcloak/v1/siv", release, calibration, struct.pack(">q", v["grid_value"])))[:16]
        key = expand(sensor, lp(b"graphcloak/v1/noise", release, calibration, nonce))
        stream = b"".join(chacha_block(key, c) for c in range(2))
        n = sample(struct.unpack(">16Q", stream), v["S"])
        check(f"vector {i}, sensor key", sensor.hex(), v["sensor_key"])
        check(f"vector {i}, nonce", nonce.hex(), v["nonce"])
        check(f"vector {i}, noise key", key.hex(), v["noise_key"])
        check(f"vector {i}, stream", stream[:32].hex(), v["stream_first_32_bytes"])
        check(f"vector {i}, noise", n, v["noise_rounded_gaussian"])
        check(f"vector {i}, released", v["grid_value"] + n, v["released_grid_value"])
    for i, e in enumerate(kat["edges"]):
        check(f"edge {i}", sample([int(w, 16) for w in e["u_words_hex"]], e["S"]), e["N"])
    answers(kept, root, check)
    print(f"{len(kat['vectors'])} vectors, {len(kat['edges'])} edges, {len(kept['coins'])} coins, {len(kept['keyed'])} answers: {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
