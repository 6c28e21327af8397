"""What Python writes in place of statements: policies, requirements and methods as objects that have their SQL."""

from __future__ import annotations

from sqlanon.api import methods, models, models_of_values
from sqlanon.api.arguments import Query
from sqlanon.api.columns import QuasiIdentifier
from sqlanon.api.method import Method
from sqlanon.api.methods import *
from sqlanon.api.models import *
from sqlanon.api.models_of_values import *
from sqlanon.api.policy import Policy
from sqlanon.api.release import AnonymizedTable, AnonymizedView
from sqlanon.api.requirements import Requirement
from sqlanon.api.tables import JoinedRelease, RelatedTable
from sqlanon.domain.policy import Pivot, Pseudonym

__all__ = [
    "AnonymizedTable",
    "AnonymizedView",
    "JoinedRelease",
    "Method",
    "Pivot",
    "Policy",
    "Pseudonym",
    "QuasiIdentifier",
    "Query",
    "RelatedTable",
    "Requirement",
]
__all__ += methods.__all__
__all__ += models.__all__
__all__ += models_of_values.__all__
