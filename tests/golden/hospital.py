"""The statements whose steps stand under `tests/golden/`: a folder for each method, one for all other statements."""

from __future__ import annotations

from dataclasses import dataclass

from sqlanon.assets import read

__all__ = ["FOLDERS", "SETUP", "Case"]


@dataclass(frozen=True)
class Case:
    """A statement, and what was run before it; `{folder}` in it is an empty folder.

    The database is in a file unless it is `in_memory`: only in a file DuckDB keeps texts in dictionaries.
    """

    name: str
    statement: str
    before: str = ""
    in_memory: bool = False


# Patients, hierarchies and the policy of the example, without its statements that make a release of them.
SETUP = read("sql", "examples", "hospital.sql").partition("-- One patient")[0]

COLUMNS = "dob QUASI IDENTIFIER{dob}, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER{zip}, disease SENSITIVE"
RANGES = COLUMNS.format(dob="", zip="")
TREES = COLUMNS.format(dob=" USING birth", zip=" USING zip_prefix")

GLOBAL = "CREATE ANONYMIZED TABLE hospital_release AS POLICY hospital METHOD generalization(suppression => 0.06);"
REGIONS = f"CREATE POLICY regions ON patients ({RANGES}) REQUIRE k_anonymity(k => 3);"
DAYS = """CREATE POLICY days ON (SELECT epoch(dob) AS born, sex, zip::INTEGER AS zip, disease FROM patients)
    (born QUASI IDENTIFIER, sex QUASI IDENTIFIER, zip QUASI IDENTIFIER, disease SENSITIVE)
    REQUIRE k_anonymity(k => 3);"""
DIVERSE = f"CREATE POLICY diverse ON patients ({TREES}) REQUIRE k_anonymity(k => 2), t_closeness(t => 0.5);"
SETS = f"""CREATE POLICY sets ON patients ({TREES}) REQUIRE k_anonymity(k => 3, on => (dob, zip)),
    l_diversity(l => 3, on => (sex, zip));"""
APART = f"CREATE POLICY apart ON patients ({RANGES}) CONFIDENTIAL (dob, sex, zip, disease) VISIBLE (dob, sex, zip);"
PEOPLE = f"""CREATE POLICY people ON (SELECT *, rowid AS number FROM patients)
    (number ENTITY, {RANGES}) REQUIRE l_diversity(l => 2);
    CREATE SERIES monthly ON POLICY people KEY 'SQLANON_TEST_KEY';
    CREATE ANONYMIZED TABLE hospital_first AS POLICY people METHOD m_invariance(m => 2) IN SERIES monthly;"""
# Of two values all have one signature, so that there are as many classes each time.
TWO_ILLNESSES = """DELETE FROM patients WHERE rowid = 16;
    UPDATE patients SET disease = ['Flu', 'Gastritis'][1 + rowid % 2];"""
BARE = "sex QUASI IDENTIFIER, zip QUASI IDENTIFIER USING zip_prefix, disease SENSITIVE"
LOCAL = f"CREATE POLICY bare ON patients ({BARE}) REQUIRE k_anonymity(k => 2);"
DISTINCT = f"CREATE POLICY buckets ON patients ({RANGES}) REQUIRE k_anonymity(k => 3), t_closeness(t => 0.4);"
LARGE = f"CREATE POLICY large ON patients ({RANGES}) REQUIRE k_anonymity(k => 10);"
WORKLOAD = """CREATE WORKLOAD counts ON POLICY hospital
    (queries => 5, dimensions => 2, selectivity => 0.1, seed => 1);"""
ILLNESSES = "CREATE TABLE kinds AS FROM (VALUES ('Flu', 'lungs'), ('lungs', NULL)) AS t(value, parent);"
TREE = "CREATE HIERARCHY tree AS PARENTS (SELECT value, parent FROM kinds);"
LISTS = """CREATE TABLE visits AS FROM (VALUES (1, ['a1', 'b1', 'b2']), (2, ['a2', 'b1']), (3, ['a2', 'b1', 'b2']),
    (4, ['a1', 'a2', 'b2'])) AS t(patient, codes);
CREATE HIERARCHY chapters AS LEVELS (FROM (VALUES ('a1', 'A'), ('a2', 'A'), ('b1', 'B'), ('b2', 'B')) AS t);
CREATE POLICY coded ON visits (patient ENTITY, codes QUASI IDENTIFIER USING chapters)
    REQUIRE km_anonymity(k => 2, m => 2);"""
SECRETS = """CREATE TABLE visits AS FROM (VALUES (1, ['a', 'b'], ['c']), (2, ['a', 'b'], []), (3, ['b'], ['c']),
    (4, ['a'], [])) AS t(patient, codes, diagnoses);
CREATE POLICY coded ON visits (patient ENTITY, codes QUASI IDENTIFIER, diagnoses SENSITIVE)
    REQUIRE coherence(h => 0.5, k => 2, p => 2);"""
NOISY = """CREATE HIERARCHY sexes AS LEVELS (FROM (VALUES ('F'), ('M')));
CREATE POLICY noisy ON patients (sex QUASI IDENTIFIER USING sexes) REQUIRE k_anonymity(k => 3);
CREATE BUDGET paid ON POLICY noisy (epsilon => 2);"""
PAIR = """CREATE TABLE aged AS SELECT sex, 2026 - year(dob) AS age FROM patients;
CREATE HIERARCHY sexes AS LEVELS (FROM (VALUES ('F'), ('M')));
CREATE HIERARCHY ages AS INTERVALS (50, low => 0, high => 100);
CREATE POLICY noisy_pair ON aged (sex QUASI IDENTIFIER USING sexes, age QUASI IDENTIFIER USING ages)
    REQUIRE k_anonymity(k => 3);
CREATE BUDGET paid ON POLICY noisy_pair (epsilon => 2);"""
# Of fewer than 100 rows no drawn count is asked.
COMPARED = f"""INSERT INTO patients SELECT p.* FROM patients AS p, range(5);
CREATE POLICY compared ON patients ({TREES}) REQUIRE k_anonymity(k => 7);"""
ASKED = "ESTIMATE SELECT count(*) FROM patients WHERE sex = 'F' AND disease = 'Pneumonia' FROM RELEASE hospital_release"


def _made(policy: str, method: str, kind: str = "TABLE") -> str:
    return f"CREATE ANONYMIZED {kind} hospital_release AS POLICY {policy} METHOD {method}"


FOLDERS = {
    "generalization": (
        Case("table", GLOBAL),
        Case("view", _made("hospital", "generalization(suppression => 0.06)", "VIEW")),
        Case("rounds", _made("diverse", "generalization(suppression => 0.5)", "VIEW"), DIVERSE),
        Case("sets", _made("sets", "generalization(suppression => 0.5)", "VIEW"), SETS),
        Case("local", _made("bare", "generalization(recoding => 'local', suppression => 0.5)"), LOCAL),
        Case("explain", "EXPLAIN ANONYMIZED TABLE hospital_release AS POLICY hospital "
             "METHOD generalization(suppression => 0.06)"),
    ),
    "mondrian": (
        Case("table", _made("regions", "mondrian"), REGIONS),
        Case("view", _made("regions", "mondrian", "VIEW"), REGIONS),
        Case("relaxed", _made("regions", "mondrian(mode => 'relaxed')"), REGIONS),
        Case("gain", _made("regions", "mondrian(split => 'information_gain', target => disease)"), REGIONS),
        Case("none", _made("regions", "mondrian(publish => 'none')"), REGIONS),
    ),
    "microaggregation": (
        Case("table", _made("days", "microaggregation(k => 3)"), DAYS),
    ),
    "anatomy": (
        Case("random", _made("regions", "anatomy(l => 3)"), REGIONS),
        Case("near", _made("regions", "anatomy(l => 3, grouping => 'near')"), REGIONS),
        Case("merged", _made("buckets", "anatomy(l => 3)"), DISTINCT),
    ),
    "m_invariance": (
        Case("explain", "EXPLAIN ANONYMIZED TABLE hospital_release AS POLICY people METHOD m_invariance(m => 2) "
             "IN SERIES monthly", PEOPLE + "DELETE FROM patients WHERE sex = 'F';"),
        Case("ranges", "EXPLAIN ANONYMIZED TABLE hospital_release AS POLICY people METHOD m_invariance(m => 2, "
             "publish => 'ranges') IN SERIES monthly",
             TWO_ILLNESSES + PEOPLE + "DELETE FROM patients WHERE sex = 'F';"),
    ),
    "dp_histogram": (
        Case("public", _made("noisy", "dp_histogram(by => (sex), epsilon => 1) UNDER BUDGET paid"), NOISY),
    ),
    "dp_synthetic": (
        Case("pair", _made("noisy_pair", "dp_synthetic(epsilon => 1) UNDER BUDGET paid"), PAIR),
    ),
    "fragments": (
        Case("found", _made("apart", "fragments"), APART),
    ),
    "loose": (
        Case("random", _made("apart", "loose(k => 4, suppression => 0.3)"), APART),
        Case("near", _made("apart", "loose(k => 4, near => true, suppression => 0.3)"), APART),
    ),
    "slicing": (
        Case("named", _made("regions", "slicing(l => 2) COLUMNS (dob, zip), (sex, disease)"), REGIONS),
        Case("ranges", _made("regions", "slicing(l => 2, column_k => 5) COLUMNS (dob, zip), (sex, disease)"), REGIONS),
        Case("found", _made("regions", "slicing(l => 2, sensitive_attributes => 2)"), REGIONS),
        Case("random", _made("large", "slicing(l => 2, grouping => 'random', bucket_size => 8) COLUMNS EACH"), LARGE),
        Case("matching", _made("large", "slicing(l => 2, diversity => 'matching', grouping => 'random', "
             "bucket_size => 8) COLUMNS (dob, zip), (sex, disease)"), LARGE),
    ),
    "itemsets": (
        Case("apriori", _made("coded", "itemsets"), LISTS),
        Case("suppress", _made("coded", "itemsets(search => 'suppress')"), SECRETS),
    ),
    "statements": (
        Case("hierarchy", "CREATE HIERARCHY calendar AS CALENDAR (MONTH)"),
        Case("hierarchy-parents", TREE, ILLNESSES),
        Case("policy", REGIONS),
        Case("compared", "CREATE ANONYMIZED TABLE hospital_release AS POLICY compared", COMPARED),
        Case("workload", WORKLOAD),
        Case("check-relation", "CHECK patients (dob, sex) SENSITIVE disease "
             "REQUIRE k_anonymity(k => 2), l_diversity(l => 2), t_closeness(t => 0.5)"),
        Case("estimate", "ESTIMATE SELECT sex, count(*) FROM patients WHERE dob >= DATE '1950-06-10' "
             "AND disease = 'H1N1' GROUP BY sex FROM RELEASE hospital_release", GLOBAL),
        Case("measure", "MEASURE hospital_release WITH WORKLOAD counts", WORKLOAD + GLOBAL, in_memory=True),
        Case("figures", "MEASURE hospital_release WITH FIGURES (a_know, linkage_risk)", GLOBAL),
        Case("membership", "MEASURE hospital_release WITH FIGURES (membership)",
             REGIONS + _made("regions", "anatomy(l => 3)") + ";"),
        Case("membership-fragments", "MEASURE hospital_release WITH FIGURES (membership)",
             APART + _made("apart", "fragments") + ";"),
        Case("export", "EXPORT hospital_release TO '{folder}/hospital.parquet'", GLOBAL),
        Case("estimate-buckets", ASKED, REGIONS + _made("regions", "anatomy(l => 3)") + ";"),
        Case("estimate-fragments", ASKED, APART + _made("apart", "fragments") + ";"),
        Case("estimate-loose", ASKED, APART + _made("apart", "loose(k => 4, suppression => 0.3)") + ";"),
        Case("drop", "DROP ANONYMIZED TABLE hospital_release", GLOBAL),
        Case("drop-definitions", "DROP WORKLOAD counts; DROP POLICY hospital; DROP HIERARCHY tree",
             ILLNESSES + TREE + WORKLOAD),
    ),
}  # fmt: skip
