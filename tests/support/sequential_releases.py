"""Two tables that share a job, and a release of the first: an example of sequential releases (Wang and Fung 2006)."""

from __future__ import annotations

__all__ = ["SETUP"]

SETUP = """
CREATE TABLE one AS FROM (VALUES ('Banker', 'Cancer'), ('Banker', 'Cancer'), ('Clerk', 'HIV'), ('Driver', 'Cancer'),
    ('Engineer', 'HIV')) AS t(job, disease);
CREATE TABLE two AS FROM (VALUES ('Alice', 'Banker', 'c1'), ('Alice', 'Banker', 'c1'), ('Bob', 'Clerk', 'c2'),
    ('Bob', 'Driver', 'c3'), ('Cathy', 'Engineer', 'c4')) AS t(name, job, class);
CREATE HIERARCHY jobs AS LEVELS (SELECT * FROM (VALUES ('Banker', 'Admin'), ('Clerk', 'Admin'), ('Driver', 'Technical'),
    ('Engineer', 'Technical')) AS t(value, level_1));
CREATE POLICY first ON one (job QUASI IDENTIFIER USING jobs MAX LEVEL 0, disease SENSITIVE) REQUIRE k_anonymity(k => 1);
CREATE ANONYMIZED TABLE first AS POLICY first METHOD generalization;
"""
