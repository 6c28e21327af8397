"""dbt: models that are releases, published through the connection that dbt has, and the macros of a dbt project."""

from __future__ import annotations
