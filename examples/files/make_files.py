#!/usr/bin/env python3
"""Writes export.csv, a table as a European spreadsheet saves it, and new.csv, patients of another clinic from an
American one: the files of docs/files.md."""

import math
import pathlib
import random

CLINICS = {"Jena": 0.0, "Graz": 0.4, "Bern": -0.3, "Metz": 0.2}


def comma(value, digits):
    """1.234,50"""
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


def patient(draw, shift):
    """Age, weight, creatinine, costs, and whether there was a relapse."""
    age = min(95, max(18, round(draw.gauss(58, 14))))
    weight = draw.gauss(78 + 4 * shift, 13)
    creatinine = math.exp(draw.gauss(0.05 + 0.2 * shift, 0.3))
    costs = 900 + 45 * age + draw.expovariate(1 / 1500)
    risk = 0.07 * (age - 58) + 2 * (creatinine - 1.1) - 0.3
    return age, weight, creatinine, costs, draw.random() < 1 / (1 + math.exp(-risk))


def export(draw, rows=240):
    lines = ["patient;clinic;admitted;age;weight_kg;creatinine;costs;aftercare;relapse"]
    for i in range(rows):
        clinic = draw.choice(sorted(CLINICS))
        age, weight, creatinine, costs, relapse = patient(draw, CLINICS[clinic])
        admitted = f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.{draw.randint(2019, 2023)}"
        measured = "" if draw.random() < 0.05 else comma(creatinine, 2)
        fields = (4101 + i, clinic, admitted, age, comma(weight, 1), measured, comma(costs, 2))
        lines.append(";".join(map(str, (*fields, "yes" if relapse else "no", int(relapse)))))
    return "\ufeff" + "\r\n".join(lines) + "\r\n"


def new(draw, rows=5):
    lines = ["patient,clinic,admitted,age,weight_kg,creatinine,costs"]
    for i in range(rows):
        age, weight, creatinine, costs, _ = patient(draw, 0.1)
        admitted = f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        lines.append(f"L-{17 + i},Linz,{admitted},{age},{weight:.1f},{creatinine:.2f},{costs:.2f}")
    return "\n".join(lines) + "\n"


def main(folder):
    draw = random.Random(18)
    (folder / "export.csv").write_bytes(export(draw).encode())
    (folder / "new.csv").write_bytes(new(draw).encode())


if __name__ == "__main__":
    main(pathlib.Path(__file__).parent)
