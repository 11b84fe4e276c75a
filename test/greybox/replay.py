"""The samplers of doc/formulas.md 8.1, on the words of a file of bits; and the lines that file_trace.hpp writes."""
import math
from typing import NamedTuple

ALL = 2 ** 64 - 1


class Bits:
    def __init__(self, words):
        self.words = words
        self.drawn = 0

    def word(self):
        self.drawn += 1
        return self.words[self.drawn - 1]

    def uniform_to(self, last):
        """As boost::random::uniform_int_distribution draws from 64-bit words."""
        if last == 0:
            return 0
        if last == ALL:
            return self.word()
        bucket = ALL // (last + 1) + (ALL % (last + 1) == last)
        while True:
            value = self.word() // bucket
            if value <= last:
                return value

    def uniform_below(self, n):
        digits = (n - 1).bit_length()
        if digits <= 64:
            return self.uniform_to(n - 1)
        while True:
            value = self.uniform_to((1 << digits % 64) - 1)
            for _ in range(digits // 64):
                value = value << 64 | self.word()
            if value < n:
                return value

    def bernoulli(self, p, q):
        return p >= q if p == 0 or p >= q else self.uniform_below(q) < p

    def exponential_up_to_one(self, p, q):
        k = 1
        while self.bernoulli(p, q) and self.bernoulli(1, k):
            k += 1
        return k % 2 == 1

    def exponential(self, p, q):
        for _ in range(p // q):
            if not self.exponential_up_to_one(1, 1):
                return False
        return self.exponential_up_to_one(p % q, q)

    def laplace(self, t, s):
        while True:
            u = self.uniform_below(t)
            if not self.exponential_up_to_one(u, t):
                continue
            v = 0
            while self.exponential_up_to_one(1, 1):
                v += 1
            magnitude = (u + t * v) // s
            negative = self.uniform_to(1) == 1
            if not (negative and magnitude == 0):
                return -magnitude if negative else magnitude

    def cell(self, histogram, t, s):
        """Permute-and-flip (8.9)."""
        gaps, q = histogram.gaps(), histogram.fraction
        order = list(range(len(gaps)))
        for i in range(len(order)):
            chosen = i + self.uniform_to(len(order) - 1 - i)
            order[i], order[chosen] = order[chosen], order[i]
            if self.exponential(gaps[order[i]] * s, t * 2 * max(q, 10 ** 9 - q)):
                return order[i]

    def gaussian(self, a, b):
        t = math.isqrt(a // b) + 1
        while True:
            z = self.laplace(t, 1)
            if self.exponential((abs(z) * t * b - a) ** 2, 2 * t * t * a * b):
                return z


class Plan(NamedTuple):
    words: int  # drawn before
    mechanism: str
    threshold: int  # -1: none
    scales: tuple  # (numerator, denominator) of each measure


class Histogram(NamedTuple):
    words: int  # drawn before
    fraction: int  # of 10^9
    margin: int
    counts: tuple

    def gaps(self):
        one, total = 10 ** 9, sum(self.counts)
        rank = {0: self.margin * one, one: (total - self.margin) * one}.get(self.fraction, total * self.fraction)
        distances, below = [], 0
        for count in self.counts:
            distances.append(max(0, below * one - rank, rank - (below + count) * one))
            below += count
        return [distance - min(distances) for distance in distances]


class Group(NamedTuple):
    words: int  # drawn so far
    integers: tuple


class Selection(NamedTuple):
    words: int
    accepted: int  # -1: none
    candidates: tuple  # (epsilon, sensitivity, margin)


class Limit(NamedTuple):
    words: int
    chosen: int
    margins: tuple  # of each comparison


def read_trace(text):
    events = []
    for line in text.splitlines():
        kind, words, *rest = line.split()
        if kind == "plan":
            scales = tuple(tuple(map(int, scale.split("/"))) for scale in rest[2:])
            events.append(Plan(int(words), rest[0], int(rest[1]), scales))
        elif kind == "group":
            events.append(Group(int(words), tuple(map(int, rest))))
        elif kind == "cells":
            events.append(Histogram(int(words), int(rest[0]), int(rest[1]), tuple(map(int, rest[2:]))))
        elif kind == "limit":
            events.append(Limit(int(words), int(rest[0]), tuple(map(int, rest[1:]))))
        else:
            candidates = (candidate.split(":") for candidate in rest[1:])
            events.append(Selection(int(words), int(rest[0]), tuple((e, int(d), int(h)) for e, d, h in candidates)))
    return events
