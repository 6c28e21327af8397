"""The statements that look at a table before there is a policy, as text."""

from __future__ import annotations

from sqlanon.domain.values import QualifiedName
from sqlanon.syntax._profile_statements import Profile, ProposeHierarchy
from sqlanon.syntax._texts import name_text, qualified_text

__all__ = ["profile_text", "propose_hierarchy_text"]


def profile_text(statement: Profile, source: str) -> str:
    columns = f" ({', '.join(map(name_text, statement.columns))})" if statement.columns else ""
    return f"PROFILE {source}{columns}"


def propose_hierarchy_text(statement: ProposeHierarchy, opening: str, condition: str) -> str:
    column = qualified_text(QualifiedName((*statement.table.parts, statement.column)))
    return f"{opening}HIERARCHY {condition}{name_text(statement.name)} AUTO ON {column}"
