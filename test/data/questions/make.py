#!/usr/bin/env python3
"""Makes the tables of test/questions, invented from a fixed seed, as CSV beside this file: a hospital, a shop, an event log.

    make.py [FOLDER]

There are people without rows, rows without people, NULLs wherever a column may have them, and a few who have many rows.
test/questions/load.sql loads every person forty times, under forty numbers.
"""
import csv
import datetime
import json
import pathlib
import random
import sys

DAY = datetime.timedelta(days=1)
YEAR = datetime.datetime(2025, 1, 1)
dice = random.Random(2025)


# random.random() gives the same numbers in every version of Python; nothing else of the module is promised to.
def chance(probability):
    return dice.random() < probability


def number(least, most):
    return least + int(dice.random() * (most - least + 1))


def one_of(values, weights=None):
    weights = weights or [1] * len(values)
    at = dice.random() * sum(weights)
    for value, weight in zip(values, weights):
        at -= weight
        if at < 0:
            return value
    return values[-1]


def perhaps(probability, value):
    return value if chance(probability) else None


def money(least, most):
    return f"{least + dice.random() ** 2 * (most - least):.2f}"


def moment(first, last):
    """By the minute, more often by day than by night."""
    day = first + number(0, (last - first).days) * DAY
    return day.replace(hour=one_of(range(24), [1] * 7 + [5] * 12 + [3] * 5), minute=number(0, 59))


def rows_of(heavy, most, usual):
    """How many rows somebody has: some have none, few have many."""
    return number(most * 3 // 4, most) if heavy else one_of(range(len(usual)), usual)


# ---- the hospital ----------------------------------------------------------------------------------------------------

ICD = {  # code: chapter, title, chronic
    "I10": ("circulatory", "hypertension", True), "I21": ("circulatory", "infarction", False), "I50": ("circulatory", "heart failure", True),
    "E11": ("endocrine", "type 2 diabetes", True), "E66": ("endocrine", "obesity", True),
    "J18": ("respiratory", "pneumonia", False), "J45": ("respiratory", "asthma", True),
    "S72": ("injury", "fracture of femur", False), "S06": ("injury", "concussion", False),
    "O80": ("pregnancy", "delivery", False), "C50": ("neoplasm", "breast cancer", True), "F32": ("mental", "depression", True)}
TESTS = {"HB": ("haemoglobin", "g/dl", 12, 17), "GLU": ("glucose", "mg/dl", 70, 140), "CRP": ("C-reactive protein", "mg/l", 0, 10),
         "K": ("potassium", "mmol/l", 3.5, 5.1)}
DRUGS = {"metformin": ("antidiabetic", "0.15"), "insulin": ("antidiabetic", "2.40"), "ramipril": ("antihypertensive", "0.20"),
         "bisoprolol": ("antihypertensive", "0.25"), "ibuprofen": ("analgesic", "0.10"), "morphine": ("analgesic", "1.80"),
         "amoxicillin": ("antibiotic", "0.60"), "sertraline": ("antidepressant", "0.30")}
WARDS = {1: ("surgery", 2, 40), 2: ("medicine", 3, 60), 3: ("icu", 1, 12), 4: ("children", 4, 30), 5: ("maternity", 4, 20)}
INSURERS = {1: ("Alpha", "public"), 2: ("Beta", "public"), 3: ("Gamma", "private")}


def hospital():
    patients, visits, diagnoses, labs, prescriptions = [], [], [], [], []
    for patient in range(1, 217):
        born = datetime.date(1930, 1, 1) + number(0, 33000) * DAY
        patients.append((patient, one_of(["f", "m", None], [50, 47, 3]), born, one_of(["north", "east", "south", "west"], [4, 3, 2, 1]),
                         one_of(["0", "A", "B", "AB", None], [40, 37, 11, 4, 8]), one_of([1, 2, 3, None], [5, 3, 1, 1]),
                         perhaps(0.7, f"gp{number(1, 9)}"), None if chance(0.95) else (YEAR + number(200, 364) * DAY).date()))
        heavy = chance(0.04)
        for _ in range(rows_of(heavy, 15, [15, 25, 25, 15, 10, 10])):
            visits.append([patient, born.year])
        for _ in range(rows_of(heavy, 14, [40, 20, 20, 10, 10])):
            drug = one_of(list(DRUGS) + ["homebrew"], [8, 4, 8, 6, 9, 2, 5, 4, 1])
            prescriptions.append((patient, drug, (YEAR + number(0, 364) * DAY).date(), one_of([7, 14, 28, 90]), perhaps(0.9, one_of(["0.5", "1", "2", "3"]))))
    visits += [[None, 1970]] * 12 + [[900 + i, 1970] for i in range(6)]  # nobody's, and of people who are no patients
    full = []
    for visit, (patient, year) in enumerate(visits, 1):
        admitted = moment(YEAR, YEAR + 364 * DAY)
        ward = one_of([1, 2, 3, 4, 5], [6, 9, 2, 12 if year > 2007 else 0, 2])
        stay = datetime.timedelta(hours=int(dice.random() ** 3 * 700) + 4)
        full.append((visit, patient, ward, number(1, 20), admitted, None if chance(0.05) else admitted + stay,
                     one_of(["planned", "emergency", "transfer"], [5, 4, 1]), perhaps(0.93, money(120, 9800))))
        for code in sorted({one_of(list(ICD) + ["Z99"], [9, 2, 3, 7, 4, 4, 4, 2, 2, 2, 2, 4, 1]) for _ in range(one_of([0, 1, 2], [1, 5, 4]))}):
            diagnoses.append((visit, code, chance(0.6)))
        for _ in range(one_of([0, 1, 2], [4, 4, 2])):
            test = one_of(list(TESTS))
            _, _, low, high = TESTS[test]
            labs.append((len(labs) + 1, visit if chance(0.97) else 5000 + len(labs), test, admitted + number(1, 30) * datetime.timedelta(hours=1),
                         perhaps(0.95, f"{low * 0.6 + dice.random() * (high * 1.3 - low * 0.6):.1f}")))
    return {"patients": patients, "visits": full, "diagnoses": diagnoses, "labs": labs, "prescriptions": prescriptions,
            "icd_codes": [(code, *rest) for code, rest in ICD.items()], "lab_tests": [(code, *rest) for code, rest in TESTS.items()],
            "drugs": [(drug, *rest) for drug, rest in DRUGS.items()], "wards": [(ward, *rest) for ward, rest in WARDS.items()],
            "insurers": [(insurer, *rest) for insurer, rest in INSURERS.items()],
            "doctors": [(i, f"Dr {chr(64 + i)}", one_of(["surgeon", "internist", "paediatrician"])) for i in range(1, 19)]}


# ---- the shop --------------------------------------------------------------------------------------------------------

COUNTRIES = {"DE": ("Germany", "EU", "0.19"), "FR": ("France", "EU", "0.20"), "IT": ("Italy", "EU", "0.22"), "CH": ("Switzerland", "EFTA", "0.08"),
             "GB": ("Britain", "other", "0.20")}
CATEGORIES = {1: ("books", "media"), 2: ("music", "media"), 3: ("kitchen", "home"), 4: ("garden", "home"), 5: ("toys", "kids")}
STATES = ["paid", "shipped", "delivered", "returned", "cancelled"]


def shop():
    customers, orders, items, reviews = [], [], [], []
    products = [(i, f"product {i}", 1 + i % 5, f"{5 + i * 37 % 90}.{i * 7 % 100:02}", i % 9 == 0) for i in range(1, 31)]
    for customer in range(1, 196):
        joined = datetime.date(2024, 7, 1) + number(0, 500) * DAY
        customers.append((customer, f"c{customer}@example.org", one_of(list(COUNTRIES) + [None], [8, 5, 4, 2, 2, 1]), joined, chance(0.4),
                          perhaps(0.8, number(1945, 2006)), one_of(["consumer", "business", "school"], [7, 2, 1]),
                          perhaps(0.15, number(1, 195))))
        heavy = chance(0.04)
        for _ in range(rows_of(heavy, 10, [20, 30, 20, 12, 10, 8])):
            orders.append(customer)
        bought = set()
        for _ in range(rows_of(heavy, 6, [60, 20, 15, 5])):
            product = number(1, 33)
            if product not in bought:
                bought.add(product)
                reviews.append((customer, product, one_of([1, 2, 3, 4, 5], [1, 1, 2, 4, 5]), (YEAR + number(0, 364) * DAY).date(),
                                perhaps(0.6, one_of(["good", "would buy again", "broken on arrival", "too expensive", "as described"]))))
    orders += [None] * 15
    full = []
    for order, customer in enumerate(orders, 1):
        ordered = moment(YEAR, YEAR + 364 * DAY)
        state = one_of(STATES, [2, 3, 14, 3, 2])
        delivered = ordered + number(1, 12) * DAY if state in ("delivered", "returned") else None
        full.append((order, customer, ordered, state, one_of(["web", "app", "phone"], [5, 4, 1]), perhaps(0.2, one_of(["SPRING", "WELCOME", "VIP"])),
                     one_of(["0.00", "4.90", "9.90"], [3, 5, 2]), delivered))
        for line in range(1, one_of([1, 2, 3], [5, 4, 2]) + 1):
            product = products[number(1, 30) - 1]
            items.append((order, line, product[0] if chance(0.97) else 99, one_of([1, 2, 3, 4], [8, 3, 1, 1]), product[3], perhaps(0.3, one_of(["0.05", "0.10", "0.25"]))))
    items += [(9000 + i, 1, 1 + i, 1, "10.00", None) for i in range(5)]  # of orders that are gone
    return {"customers": customers, "orders": full, "items": items, "reviews": reviews, "products": products,
            "categories": [(key, *rest) for key, rest in CATEGORIES.items()], "countries": [(key, *rest) for key, rest in COUNTRIES.items()]}


# ---- the event log ---------------------------------------------------------------------------------------------------

PAGES = ["/", "/pricing", "/docs", "/blog", "/app"]
AREAS = {"view": "site", "signup": "growth", "trial": "growth", "purchase": "growth", "search": "product", "export": "product", "error": "quality"}


def payload_of(name, device):
    if name == "view":
        return {"page": one_of(PAGES, [6, 3, 3, 2, 4]), "ms": number(40, 3000)}
    if name == "search":
        return {"q": one_of(["price", "api", "login", "export"]), "hits": number(0, 40)}
    if name == "purchase":
        return {"amount": number(5, 120), "currency": one_of(["EUR", "USD"], [3, 1])}
    if name == "error":
        return {"code": one_of([404, 500, 503], [5, 2, 1]), "device": device}
    return None


def log():
    users, sessions, events = [], [], []
    first = YEAR
    for user in range(1, 146):
        signed_up = moment(first, first + 120 * DAY)
        users.append((user, signed_up, one_of(["free", "pro", "team"], [6, 3, 1]), one_of(list(COUNTRIES), [6, 4, 3, 2, 3]),
                      perhaps(0.5, number(1, 12)), None if chance(0.9) else signed_up + number(10, 60) * DAY))
        for at in range(rows_of(chance(0.05), 16, [10, 25, 20, 15, 15, 15])):
            started = signed_up + (number(0, 55) * DAY if at else datetime.timedelta())
            device = one_of(["desktop", "mobile", "tablet"], [5, 4, 1])
            session = len(sessions) + 1
            length = number(1, 90)
            sessions.append((session, user, started, perhaps(0.9, started + datetime.timedelta(minutes=length)), device,
                             one_of(["search", "mail", "ads", None], [5, 2, 3, 4])))
            names = ["signup"] * (at == 0) + [one_of(["view", "search", "export", "error"], [6, 3, 1, 1]) for _ in range(number(0, 3))]
            names += ["trial"] * (at == 1 and chance(0.6)) + ["purchase"] * (at > 1 and chance(0.3))
            for name in names:
                events.append((len(events) + 1, user, session if chance(0.95) else None, started + datetime.timedelta(minutes=number(0, length)), name,
                               payload_of(name, device)))
    events += [(len(events) + 1 + i, None, None, moment(first, first + 170 * DAY), "view", payload_of("view", "mobile")) for i in range(40)]
    return {"users": users, "sessions": sessions, "events": events, "plans": [("free", "0.00"), ("pro", "19.00"), ("team", "49.00")],
            "features": list(AREAS.items()), "campaigns": [("ads", "spring sale", "1200.00"), ("mail", "newsletter", "90.00"), ("search", "none", "0.00")],
            "holidays": [("2025-01-01", "New Year"), ("2025-04-18", "Good Friday"), ("2025-04-21", "Easter Monday"), ("2025-05-01", "Labour Day")]}


def cell(value):
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"))
    return value  # None is written as nothing, which COPY reads as NULL


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for tables in (hospital(), shop(), log()):
        for name, rows in tables.items():
            with open(folder / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)


if __name__ == "__main__":
    main()
