"""What each figure of a release means, in a sentence for who decides about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sqlanon.questions.statistics import readable_statistics

_FROM_0_TO_1 = "0 where nothing is changed, 1 where nothing is left"


def _of_buckets(kind: str) -> dict[str, str]:
    shares = {"at_most_10": "at most 10", "11_to_20": "11 to 20", "above_20": "more than 20"}
    return {
        f"matching_buckets_{kind}": f"How many buckets a tuple matches that counts as {kind}, the mean.",
        **{
            f"matching_buckets_{kind}_{name}": f"The share of the tuples counted as {kind} that match {words} buckets."
            for name, words in shares.items()
        },
    }


MEANINGS: Mapping[str, str] = {
    "a_acc": "How many more rows are guessed right, as a share, by the most frequent sensitive value of their class "
    "than by that of all published rows.",
    "a_know": "How far the sensitive values of a row's class are from those of all published rows: half the sum of "
    "the absolute differences of shares, the mean over rows. 0 where no class differs.",
    "a_quot": "The greatest logarithm, in absolute value, of a value's share in a class by its share of all "
    "published rows: infinite where a class lacks a value.",
    "a_quot_present": "The same as a_quot, of the values alone that a class has.",
    "least_class_size": "The rows of the smallest class.",
    "average_class_size": "The rows of a class, the mean over classes.",
    "greatest_class_size": "The rows of the largest class.",
    "discernibility": "The sum over rows of the sizes of their classes; a row that was left out counts as all rows "
    "of the source.",
    "gain": "How much less uncertain the sensitive value of a row is to who knows its class, in nats: the entropy of "
    "all published rows less the mean over rows of that of their class.",
    "classes": "How many classes there are.",
    "row_count": "How many rows are published.",
    "unique_rows": "How many rows are alone in their class.",
    "prosecutor_risk": "The greatest chance to pick somebody's row out of their class, of who knows that they are in "
    "the release.",
    "marketer_risk": "The share of the rows that are picked right by who picks a row for each person.",
    "p_loss": "The Jensen-Shannon divergence of the sensitive values of a class from those of all published rows, in "
    "nats: that of the class that differs most, of at most 0.693147.",
    "p_loss_mean": "The same divergence as p_loss, the mean over rows.",
    **{
        f"p_loss_{share}": f"The same divergence as p_loss: what {share} % of the rows do not exceed."
        for share in (50, 90, 95, 99)
    },
    "p_loss_above": "The share of the rows whose class has a divergence, as that of p_loss, above 0.3.",
    "granularity_loss": "How much coarser values are than in the source: one whose label stands for n of the N "
    "values of its column costs (n - 1) / (N - 1), a row that was left out 1; the mean over the rows of the source, "
    f"and over the quasi-identifiers, weighted where the policy weighs them. {_FROM_0_TO_1}.",
    "precision": "How far up their hierarchies values are: one costs its level divided by the height of its "
    "hierarchy, a row that was left out 1; the mean over the rows of the source, and over the quasi-identifiers, "
    f"weighted where the policy weighs them. {_FROM_0_TO_1}.",
    "non_uniform_entropy": "How many bits are needed to say which values the labels stand for, the sum over rows: a "
    "frequent value costs less than a rare one below the same label. Not defined where rows were left out, for the "
    "release does not say which.",
    "u_loss": "How wrong the release is about large groups of people, such as all of an age and a sex: the "
    "Jensen-Shannon divergence of their sensitive values in the release from those in the source, in nats, the mean "
    "over groups with at least 5 % of the source's rows.",
    "populations": "How many groups u_loss is the mean over.",
    "original": "How many different tuples of the published columns can be put together that are rows of the source.",
    "fake": "How many different tuples of the published columns can be put together that are no row of the source.",
    "fake_original_ratio": "How many fake tuples there are for each original one.",
    **_of_buckets("original"),
    **_of_buckets("fake"),
}


def meanings_of(names: Iterable[str]) -> list[tuple[tuple[str, ...], str]]:
    """The figures of these names with what they mean, each name once and in their order.

    Those that are not among `MEANINGS`, such as a plug-in's, have the title of their file together.
    """
    remaining = list(dict.fromkeys(names))
    files = readable_statistics("figures")
    titles = {file.title: file.columns for file in files}
    meanings: list[tuple[tuple[str, ...], str]] = []
    while remaining:
        name = remaining[0]
        several: tuple[str, ...] = (name,)
        meaning = MEANINGS.get(name)
        if meaning is None:
            meaning, columns = next(
                ((title, columns) for title, columns in titles.items() if name in columns), ("A figure of MEASURE.", ())
            )
            several = (name, *(other for other in remaining[1:] if other in columns and other not in MEANINGS))
        meanings.append((several, meaning))
        remaining = [other for other in remaining if other not in several]
    return meanings
