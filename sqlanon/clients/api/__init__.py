"""Python objects in place of statements: policies, requirements and methods. Each object writes its SQL."""

from __future__ import annotations

from sqlanon.clients.api.arguments import Query
from sqlanon.clients.api.columns import Labels, QuasiIdentifier, SamplingWeight
from sqlanon.clients.api.method import Method
from sqlanon.clients.api.methods import (
    Anatomy,
    DpHistogram,
    DpSynthetic,
    Fragments,
    Generalization,
    Itemsets,
    Loose,
    Microaggregation,
    MInvariance,
    Mondrian,
    Multirelational,
    Slicing,
    Trivial,
)
from sqlanon.clients.api.models import (
    Coherence,
    DeltaPresence,
    KAnonymity,
    KmAnonymity,
    KMap,
    KMapEstimated,
    XyAnonymity,
    XyLinkability,
)
from sqlanon.clients.api.models_of_knowledge import CkSafety, EpsilonPrivacy, PrivacySkyline
from sqlanon.clients.api.models_of_numbers import IndividualRisk, KeAnonymity, Proximity, Spread
from sqlanon.clients.api.models_of_values import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    LDiversity,
    NtCloseness,
    Personalized,
    PSensitiveKAnonymity,
    TCloseness,
    ValueRanges,
)
from sqlanon.clients.api.policy import Policy
from sqlanon.clients.api.release import AnonymizedTable, AnonymizedView
from sqlanon.clients.api.requirements import Requirement
from sqlanon.clients.api.tables import JoinedRelease, RelatedTable
from sqlanon.domain.policy import Mask, Pivot, Pseudonym, Sample, Shift

__all__ = [
    "AlphaKAnonymity",
    "Anatomy",
    "AnonymizedTable",
    "AnonymizedView",
    "BetaLikeness",
    "CkSafety",
    "Coherence",
    "DeltaDisclosure",
    "DeltaPresence",
    "DpHistogram",
    "DpSynthetic",
    "EpsilonPrivacy",
    "Fragments",
    "Generalization",
    "IndividualRisk",
    "Itemsets",
    "JoinedRelease",
    "KAnonymity",
    "KMap",
    "KMapEstimated",
    "KeAnonymity",
    "KmAnonymity",
    "LDiversity",
    "Labels",
    "Loose",
    "MInvariance",
    "Mask",
    "Method",
    "Microaggregation",
    "Mondrian",
    "Multirelational",
    "NtCloseness",
    "PSensitiveKAnonymity",
    "Personalized",
    "Pivot",
    "Policy",
    "PrivacySkyline",
    "Proximity",
    "Pseudonym",
    "QuasiIdentifier",
    "Query",
    "RelatedTable",
    "Requirement",
    "Sample",
    "SamplingWeight",
    "Shift",
    "Slicing",
    "Spread",
    "TCloseness",
    "Trivial",
    "ValueRanges",
    "XyAnonymity",
    "XyLinkability",
]
