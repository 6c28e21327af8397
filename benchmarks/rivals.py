"""Runs a Python package that answers with noise: `python benchmarks/rivals.py NAME ROWS RUNS`.

The package is in an environment of its own. ROWS is a CSV file with a row for each respondent: patient, disease (d0 to
d13) and bill (0 to 500). The script prints a line of JSON: the absolute errors of counts by disease, of the sum of
bills and of their average, for all runs at epsilon 1, and the processor seconds of the three questions in each run.
"""

from __future__ import annotations

import csv
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

KEYS = [f"d{i}" for i in range(14)]
LOW, HIGH = 0, 500
_EPSILON, _DELTA = 1.0, 1e-9

Row = tuple[int, str, int]
# The counts of the keys, the sum and the average.
Answers = tuple[Mapping[str, float], float, float]


def _diffprivlib(rows: Sequence[Row]) -> Callable[[], Answers]:
    """Returns a function that answers by diffprivlib, in which each row is a respondent, and averages know the number
    of rows.
    """
    numpy, tools = import_module("numpy"), import_module("diffprivlib.tools")
    codes = numpy.array([int(disease[1:]) for _, disease, _ in rows])
    bills = numpy.array([bill for *_, bill in rows])

    def answers() -> Answers:
        counts, _ = tools.histogram(codes, epsilon=_EPSILON, bins=len(KEYS), range=(0, len(KEYS)))
        total = tools.sum(bills, epsilon=_EPSILON, bounds=(LOW, HIGH))
        average = tools.mean(bills, epsilon=_EPSILON, bounds=(LOW, HIGH))
        return dict(zip(KEYS, map(float, counts), strict=True)), float(total), float(average)

    return answers


def _smartnoise(rows: Sequence[Row]) -> Callable[[], Answers]:
    """Returns a function that answers by smartnoise; an average gets half of epsilon, because it costs twice its
    epsilon.
    """
    pandas, package = import_module("pandas"), import_module("snsql")
    frame = pandas.DataFrame(rows, columns=["patient", "disease", "bill"])
    columns = {
        "patient": {"type": "int", "private_id": True},
        "disease": {"type": "string", "cardinality": len(KEYS)},
        "bill": {"type": "int", "lower": LOW, "upper": HIGH},
    }
    options = {"row_privacy": False, "max_ids": 1, "censor_dims": False, "clamp_counts": False}
    about = {"": {"": {"visits": {**options, **columns}}}}
    readers = [
        package.from_df(frame, privacy=package.Privacy(epsilon=epsilon, delta=_DELTA), metadata=about)
        for epsilon in (_EPSILON, _EPSILON / 2)
    ]

    def answers() -> Answers:
        counts = readers[0].execute("SELECT disease, COUNT(*) AS n FROM visits GROUP BY disease")[1:]
        total = readers[0].execute("SELECT SUM(bill) AS n FROM visits")[1][0]
        average = readers[1].execute("SELECT AVG(bill) AS n FROM visits")[1][0]
        return {str(key): float(n) for key, n in counts}, float(total), float(average)

    return answers


def _pipeline_dp(rows: Sequence[Row]) -> Callable[[], Answers]:
    package: Any = import_module("pipeline_dp")

    def answer(metric: Any, keys: Sequence[Any], partition: Callable[[Row], Any], **bounds: Any) -> dict[Any, Any]:
        accountant = package.NaiveBudgetAccountant(total_epsilon=_EPSILON, total_delta=_DELTA)
        engine = package.DPEngine(accountant, package.LocalBackend())
        extractors = package.DataExtractors(
            partition_extractor=partition, privacy_id_extractor=lambda row: row[0], value_extractor=lambda row: row[2]
        )
        limits = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1}
        parameters = package.AggregateParams(noise_kind=package.NoiseKind.LAPLACE, metrics=[metric], **limits, **bounds)
        answers = engine.aggregate(list(rows), parameters, extractors, public_partitions=list(keys))
        accountant.compute_budgets()
        return dict(answers)

    def answers() -> Answers:
        metrics, bounds = package.Metrics, {"min_value": LOW, "max_value": HIGH}
        counts = answer(metrics.COUNT, KEYS, lambda row: row[1])
        total = answer(metrics.SUM, [0], lambda row: 0, **bounds)[0].sum
        average = answer(metrics.MEAN, [0], lambda row: 0, **bounds)[0].mean
        return {key: float(counts[key].count) for key in KEYS}, float(total), float(average)

    return answers


_RIVALS = {"diffprivlib": _diffprivlib, "smartnoise-sql": _smartnoise, "pipeline-dp": _pipeline_dp}


def measured(answers: Callable[[], Answers], rows: Sequence[Row], runs: int) -> dict[str, list[float]]:
    """Returns the absolute errors of each question in all runs, and each run's processor seconds, after a warm-up."""
    counts = {key: sum(disease == key for _, disease, _ in rows) for key in KEYS}
    total = sum(bill for *_, bill in rows)
    found: dict[str, list[float]] = {"counts": [], "sum": [], "average": [], "seconds": []}
    answers()
    for _ in range(runs):
        begun = time.process_time()
        noisy_counts, noisy_total, noisy_average = answers()
        found["seconds"].append(time.process_time() - begun)
        found["counts"] += [abs(noisy_counts.get(key, 0.0) - n) for key, n in counts.items()]
        found["sum"].append(abs(noisy_total - total))
        found["average"].append(abs(noisy_average - total / len(rows)))
    return found


def read(file: Path) -> list[Row]:
    """Reads the rows of the CSV file."""
    with file.open(newline="", encoding="utf-8") as lines:
        return [(int(row["patient"]), row["disease"], int(row["bill"])) for row in csv.DictReader(lines)]


def main(name: str, file: Path, runs: int) -> None:
    """Prints the results of a rival."""
    warnings.filterwarnings("ignore")
    rows = read(file)
    print(json.dumps(measured(_RIVALS[name](rows), rows, runs)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
