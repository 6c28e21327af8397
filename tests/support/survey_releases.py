"""De Capitani di Vimercati, Foresti, Livraga and Samarati, Data privacy: definitions and techniques (2012), figure 7.

Two releases about some of the same people: who is in which class of each, and a value of each that agrees with both.
"""

from __future__ import annotations

__all__ = ["DISEASES", "LATER", "MEMBERS"]

# Two releases about overlapping respondents: by year and sex, and by year and digits of the code; n1 to n6 are new.
MEMBERS = {
    "1940 M": "John Luke Anthony Matt",
    "1950 F": "Diana Liz Gabrielle Lorna",
    "1940 F": "Barbara Fay Anna Carol",
    "1950 M": "Nathan Eric Rob Bob",
}
LATER = {
    "1940 9414": "John Luke n1 Carol",
    "1940 9413": "n2 Matt n3 Fay",
    "1950 9414": "Diana Liz n4 Bob",
    "1950 9413": "n5 Eric Gabrielle n6",
}
# A world that both releases agree with.
DISEASES = {
    **dict.fromkeys("John Luke Fay Barbara".split(), "Peptic Ulcer"),
    **{"Anthony": "Broken Leg", "Matt": "Short Breath", "Gabrielle": "H1N1", "Diana": "H1N1", "Liz": "Pneumonia"},
    **{"Lorna": "Flu", "Carol": "Stomach Cancer", "Anna": "Broken Leg", "Eric": "Dyspepsia", "Bob": "Gastritis"},
    **{"Nathan": "Gastritis", "Rob": "Stomach Cancer", "n1": "Measles", "n2": "Gastritis", "n3": "Pneumonia"},
    **{"n4": "Measles", "n5": "Infract", "n6": "Thrombosis"},
}
