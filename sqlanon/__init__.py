"""Anonymization for SQL workflows on DuckDB.

`connect()` returns a DuckDB connection that also understands sqlanon's statements:
ADVANCE, ADVISE, ALTER POLICY | READER, ATTACK, CHECK, CREATE ANONYMIZED STREAM | ANONYMIZED TABLE | ANONYMIZED VIEW |
BUDGET | HIERARCHY | POLICY | READER | SERIES | WORKLOAD, DESCRIBE ANONYMIZED TABLE | ANONYMIZED VIEW | BUDGET | POLICY,
DROP ANONYMIZED STREAM | ANONYMIZED TABLE | ANONYMIZED VIEW | BUDGET | FRONTIER | HIERARCHY | POLICY | READER | SERIES |
WORKLOAD, ESTIMATE, EXPLAIN ANONYMIZED TABLE | ANONYMIZED VIEW | ESTIMATE, EXPORT, FRONTIER, GRANT ESTIMATE ON | SELECT
ON, MEASURE, PROFILE, REFRESH ANONYMIZED TABLE, REVOKE ESTIMATE ON | SELECT ON, SHOW BUDGETS | FRONTIERS | GRANTS |
HIERARCHIES | POLICIES | READERS | RELEASES | SERIES | STREAMS | WORKLOADS.
`anonymize()` needs no database: it takes a data frame or a file and returns or writes the anonymized data.
`Policy`, `Requirement`, `Method` and the classes of each model and method build statements from Python values.
In a notebook `%load_ext sqlanon` loads the magics `%sqlanon` and `%%sqlanon`.
"""

from __future__ import annotations

__version__ = "0.1.0"

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sqlanon.errors import (
    CatalogError,
    DataError,
    EngineError,
    InternalError,
    PolicyError,
    PrivacyRemark,
    PrivacyViolation,
    SqlanonError,
    StatementError,
    UserError,
)

if TYPE_CHECKING:
    from sqlanon.clients.api import (
        AlphaKAnonymity,
        Anatomy,
        AnonymizedTable,
        AnonymizedView,
        BetaLikeness,
        CkSafety,
        Coherence,
        DeltaDisclosure,
        DeltaPresence,
        DpHistogram,
        DpSynthetic,
        EpsilonPrivacy,
        Fragments,
        Generalization,
        IndividualRisk,
        Itemsets,
        JoinedRelease,
        KAnonymity,
        KeAnonymity,
        KmAnonymity,
        KMap,
        KMapEstimated,
        Labels,
        LDiversity,
        Loose,
        Mask,
        Method,
        Microaggregation,
        MInvariance,
        Mondrian,
        Multirelational,
        NtCloseness,
        Personalized,
        Pivot,
        Policy,
        PrivacySkyline,
        Proximity,
        PSensitiveKAnonymity,
        Pseudonym,
        QuasiIdentifier,
        Query,
        RelatedTable,
        Requirement,
        Sample,
        SamplingWeight,
        Shift,
        Slicing,
        Spread,
        TCloseness,
        Trivial,
        ValueRanges,
        XyAnonymity,
        XyLinkability,
    )
    from sqlanon.clients.frames.anonymize import anonymize
    from sqlanon.clients.frames.release import FrameRelease, release_of
    from sqlanon.clients.session import Connection, StatementEvent, connect

__all__ = [
    "AlphaKAnonymity",
    "Anatomy",
    "AnonymizedTable",
    "AnonymizedView",
    "BetaLikeness",
    "CatalogError",
    "CkSafety",
    "Coherence",
    "Connection",
    "DataError",
    "DeltaDisclosure",
    "DeltaPresence",
    "DpHistogram",
    "DpSynthetic",
    "EngineError",
    "EpsilonPrivacy",
    "Fragments",
    "FrameRelease",
    "Generalization",
    "IndividualRisk",
    "InternalError",
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
    "PolicyError",
    "PrivacyRemark",
    "PrivacySkyline",
    "PrivacyViolation",
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
    "SqlanonError",
    "StatementError",
    "StatementEvent",
    "TCloseness",
    "Trivial",
    "UserError",
    "ValueRanges",
    "XyAnonymity",
    "XyLinkability",
    "__version__",
    "anonymize",
    "connect",
    "load_ipython_extension",
    "release_of",
]


# The module below sqlanon.clients of each name that is imported at its first use; all other names are in `api`.
_MODULES = {
    "Connection": "session",
    "FrameRelease": "frames.release",
    "StatementEvent": "session",
    "anonymize": "frames.anonymize",
    "connect": "session",
    "release_of": "frames.release",
}


# A type checker reads the imports above. If it read __getattr__, it would accept any name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            value = getattr(import_module(f"sqlanon.clients.{_MODULES.get(name, 'api')}"), name)
            globals()[name] = value
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns the public names, which an editor offers, whether they are imported yet or not."""
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Registers the magics; `%load_ext sqlanon` calls it in a notebook.

    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> shell = InteractiveShell()
    >>> load_ipython_extension(shell)
    >>> "sqlanon" in shell.magics_manager.magics["line"]
    True
    """
    from sqlanon.clients.notebook import load

    load(shell)
