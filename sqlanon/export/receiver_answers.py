"""Answers CHECK, ATTACK and ESTIMATE about an export from its files alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlglot import exp

from sqlanon.assess.attacks.attacked import AttackAnswer, Target, attacked
from sqlanon.assess.attacks.known_people import known_columns
from sqlanon.assess.estimate import Answered, estimate, require_parsed, source_names
from sqlanon.assess.masked_values import MaskedColumn, masks_of
from sqlanon.domain.bound import BoundAttribute
from sqlanon.domain.identifiers import fold
from sqlanon.domain.policy import Attribute, Role
from sqlanon.domain.release import Measurement, Reading
from sqlanon.domain.requests import AttackRequest
from sqlanon.engines.base import Column, Engine
from sqlanon.engines.postgres_url import is_database_url
from sqlanon.engines.temp_tables import TempTables
from sqlanon.errors import CatalogError, EngineError, PrivacyViolation, UserError, about
from sqlanon.estimates.labels.marginals import Marginals
from sqlanon.estimates.query.parse import parsed
from sqlanon.export.certificate_format import KnownTriple
from sqlanon.export.claims import asked_by, asked_of_join, is_alike, unlike_requirements
from sqlanon.export.layout import local_path
from sqlanon.export.opening import received
from sqlanon.export.received import ExportedTables, ReceivedExport
from sqlanon.export.signature import public_key, signer_of
from sqlanon.export.verify import by_label, released_texts
from sqlanon.methods.base import Figure, PublishedTables, Structure
from sqlanon.methods.registry import verified, worded
from sqlanon.release.existing.classes import people_in_no_class
from sqlanon.release.existing.statistics import hidden_parts
from sqlanon.release.pipeline.check import measured
from sqlanon.sources.joins import JoinedRequirement, bind_joined, of_join
from sqlanon.sources.masks import form_of
from sqlanon.sources.requirement_columns import guards_of
from sqlanon.sql.build.expressions import as_text
from sqlanon.sql.build.names import alias, column
from sqlanon.sql.build.queries import select
from sqlanon.sql.build.steps import with_steps
from sqlanon.sql.cells.taxonomy import KNOWN_TRIPLE, Taxonomy
from sqlanon.sql.classes.further_relations import OF_NUMBERS, is_numeric
from sqlanon.sql.classes.normal_relations import Background, literal_rows
from sqlanon.sql.classes.rows import Rows
from sqlanon.sql.classes.supersets import SUPERSET
from sqlanon.sql.questions.ask import BoundRequirement

# CHECK of an export: what its receiver can verify.


# Relations that are read from the files alone, and from none of the publisher's tables.
_IN_FILES = frozenset(
    (
        "equivalence_class",
        "class_sensitive_value",
        "sensitive_value",
        "class_itemset",
        "class_itemset_value",
        OF_NUMBERS,
        SUPERSET,
    )
)
# The figure for a column of the policy that no file has, though others may know it, or must not learn it.
_NOT_PUBLISHED = "not_published"

FROM_FILES, FROM_CERTIFICATE = "recomputed from the files", "stated by the certificate"


@dataclass(frozen=True)
class Evidence:
    """A measurement of an export, and its source: the files, or a statement of the certificate."""

    measurement: Measurement
    known_by: str


@dataclass(frozen=True)
class CheckedExport:
    """The answer of CHECK: the release's name, the evidence, the sensitive attributes and the requirements."""

    release: str
    evidence: tuple[Evidence, ...]
    sensitive: tuple[str, ...] = ()
    requirements: tuple[BoundRequirement, ...] = ()


def check_export(engine: Engine, path: str, key: str | None = None) -> CheckedExport:
    """Compares an export with its certificate; `path` is the path of the folder, of a data file or of the certificate.

    The files must have the hashes and the numbers of rows in the certificate. Requirements that the files can answer
    are computed again; the others are reported as the certificate states them. If `key`, a file with a public key, is
    given, the holder of the key must have signed the certificate.

    Raises UserError if the files cannot be read, and PrivacyViolation if they differ from the certificate.
    """
    export = received(engine, path)
    signature = list(_signature(export, path, key))
    export.require_consistent()
    policy, requirements, stated = export.recorded.policy, export.requirements, export.stated
    of_the_join = bind_joined(of_join(policy))
    figures = worded(export.method, export.arguments).figures
    members = [*map(asked_by, requirements), *map(asked_of_join, of_the_join)]
    certificate = export.certificate
    if why := unlike_requirements(certificate.requirements, members, figures, certificate.method.arguments):
        raise PrivacyViolation(f"{path}: its certificate contradicts its policy: {why}")
    with export.tables(engine) as exported, _as_its_method_writes(path):
        masks = list(_masks(export, exported))
        structure = _structure(export, exported)
        if structure.misfit is not None:
            raise PrivacyViolation(f"the files of {path} do not fit together: {structure.misfit}")
        reached = dict(_recomputed(export, exported))
    evidence = [_evidence(requirement, index, reached, stated, path) for index, requirement in enumerate(requirements)]
    evidence += [_of_structure(measurement, figures, stated, path) for measurement in structure.measurements]
    # No file of one release shows the join with another.
    evidence += [_evidence(requirement, None, reached, stated, path) for requirement in of_the_join]
    sensitive = tuple(a.name for a in policy.all_having(Role.SENSITIVE))
    missing = [Evidence(Measurement(_NOT_PUBLISHED, name, None, None, None), FROM_FILES) for name in export.unpublished]
    # A certificate within a file has no digest of the file.
    certified = Measurement("files_as_certified", None, None, None, True if export.has_digests else None)
    evidence = [Evidence(certified, FROM_FILES), *signature, *missing, *evidence, *masks]
    return CheckedExport(certificate.release, tuple(evidence), sensitive, requirements)


def _masks(export: ReceivedExport, exported: ExportedTables) -> Iterator[Evidence]:
    """Yields, for each masked column, the number of values without the form of the mask.

    If the library of a mask is not installed, the number is unknown. Values of the mask `choice` are skipped, because
    its list is not in the files.
    """
    masks = masks_of(export.recorded.policy)
    for table, recorded in zip(exported.tables.values(), export.recorded.tables, strict=True):
        for part in recorded.columns:
            mask = masks.get(fold(part.source))
            if mask is None or mask.name == "choice" or part.reading is not Reading.TOKEN:
                continue
            try:
                has_form = form_of(mask)
            except UserError as missing:
                unanswered = Measurement(f"mask_{mask.name}", part.name, None, None, None)
                yield Evidence(unanswered, f"not known: {missing.hint}")
                continue
            masked = MaskedColumn(table, part.name, part.source, mask)
            yield Evidence(masked.measured(exported.engine, has_form), FROM_FILES)


def _structure(export: ReceivedExport, exported: ExportedTables) -> Structure:
    """Returns the figures of the method's own promises, computed from the files."""
    published = PublishedTables(
        engine=exported.engine,
        policy=export.recorded.policy,
        tables=exported.tables,
        values=exported.values,
        suppressed=export.certificate.rows.suppressed,
        recorded=tuple(export.stated.values()),
    )
    return verified(export.method, export.arguments, published)


def _signature(export: ReceivedExport, path: str, key: str | None) -> Iterator[Evidence]:
    """Yields the evidence of the certificate's signature; nothing for an unsigned certificate, if no signature is
    required.

    Raises PrivacyViolation if the holder of the key did not sign the certificate.
    """
    with about("key"):
        expected = None if key is None else public_key(local_path(key))
    signer = signer_of(export.content)
    if expected is not None and signer is None:
        raise PrivacyViolation(
            f"nobody signed {path}; SIGNED BY requires the signature of {key}, {expected.fingerprint}",
            hint="ask the publisher for a signed export"
            if export.has_digests
            else "a certificate within a data file has no signature: name the folder or certificate.json",
        )
    if expected is not None and signer is not None and signer.key != expected.key:
        raise PrivacyViolation(
            f"{path} was signed with another key, {signer.fingerprint}, and not with {key}, {expected.fingerprint}",
            hint="ask the publisher for the public key, over a channel that you trust",
        )
    if signer is not None:
        whose = f"signed with the key {signer.fingerprint}" + ("" if key else ", which nobody vouches for here")
        yield Evidence(Measurement("signature", None, None, None, True if key else None), whose)


@contextmanager
def _as_its_method_writes(path: str) -> Iterator[None]:
    """Raises PrivacyViolation if an error in its block shows that the method in the certificate cannot have made the
    tables.
    """
    try:
        yield
    except (EngineError, CatalogError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise PrivacyViolation(
            f"{path}: its tables are not the tables of the method that its certificate names",
            hint="ask the publisher for the export again",
        ) from None


def _of_structure(
    measurement: Measurement, figures: Mapping[str, Figure], stated: Mapping[str, Measurement], path: str
) -> Evidence:
    """Returns the evidence of a method's figure. Raises PrivacyViolation if the files and the certificate differ."""
    if not figures[measurement.question].in_files:
        return Evidence(measurement, FROM_CERTIFICATE)
    for claim in stated.values():
        if claim.question == measurement.question and not is_alike(claim.achieved, measurement.achieved):
            raise _other_figure(path, measurement.question, measurement, claim)
    return Evidence(measurement, FROM_FILES)


def _other_figure(path: str, requirement: object, reached: Measurement, claim: Measurement) -> PrivacyViolation:
    return PrivacyViolation(
        f"{path}: {requirement} reaches {reached.achieved}, but the certificate says {claim.achieved}",
        hint="the certificate does not belong to these files",
    )


def _recomputed(export: ReceivedExport, exported: ExportedTables) -> Iterator[tuple[int, Measurement]]:
    """Yields the measurements of the requirements that the files can answer, with their indexes."""
    policy, requirements, missing = export.recorded.policy, export.requirements, set(export.unpublished)
    guards = {index: fold(guard) for index, guard in guards_of(requirements).items()}
    hidden = hidden_parts(requirements, guards, policy.hides_respondents, ())
    indexes = [
        i
        for i, r in enumerate(requirements)
        if i not in hidden
        and (_IN_FILES if _stated(export, r) is None else {*_IN_FILES, KNOWN_TRIPLE}).issuperset(r.reads)
        and missing.isdisjoint(r.attributes)
    ]
    # Broader classes depend on all quasi-identifiers, and on the labels above their labels.
    of_labels = [i for i in indexes if SUPERSET in requirements[i].reads]
    if of_labels and (missing or not _has_labels_above(export)):
        indexes = [i for i in indexes if i not in of_labels]
        of_labels = []
    if not indexes:
        return
    named = {fold(name) for i in of_labels for name, _ in requirements[i].within or ()}
    coarser = _coarser(export, exported, named) if of_labels else {}
    for part in exported.rows(requirements, indexes):
        answered = [requirements[index] for index in part.indexes]
        known = [(index, r) for index, r in enumerate(answered) if KNOWN_TRIPLE in r.reads]
        types = {name: _taxonomy(exported.engine, part.rows, name) for _, r in known for name in r.attributes}
        taxonomies = types | _numbers(export, exported.engine, answered, part.rows)
        triples = {index: _known_triples(export, exported.engine, r, part.rows) for index, r in known}
        background = Background(taxonomies, ranges=triples, coarser=coarser)
        reached = zip(part.indexes, measured(exported.engine, answered, part.rows, background), strict=True)
        # In a file of other types, values have other texts.
        unlike = {index for index, r in known if _is_of_other_type(export, taxonomies[r.attributes[0]])}
        yield from (measurement for index, measurement in enumerate(reached) if index not in unlike)


def _stated(export: ReceivedExport, requirement: BoundRequirement) -> tuple[KnownTriple, ...] | None:
    """Returns the adversary's knowledge in the certificate's entry of a requirement; None if the entry does not state
    it.
    """
    entries = export.certificate.requirements
    return next((entry.known for entry in entries if entry.requirement == str(requirement)), None)


def _is_of_other_type(export: ReceivedExport, taxonomy: Taxonomy) -> bool:
    bound = taxonomy.bound
    return export.recorded.types.get(fold(bound.column)) != bound.published_type


def _known_triples(export: ReceivedExport, engine: Engine, requirement: BoundRequirement, rows: Rows) -> exp.Query:
    """Returns the adversary's knowledge in the certificate, with the texts of the files' values.

    Raises PrivacyViolation if the files have fewer values than there are numbers in the certificate.
    """
    (name,) = requirement.attributes
    texts = released_texts(engine, rows, name)
    stated = _stated(export, requirement) or ()
    if any(triple.value is not None and triple.value >= len(texts) for triple in stated):
        raise PrivacyViolation(
            f"{export.called}: its certificate states other values of {name} than the files have",
            hint="ask the publisher for the export again",
        )
    triples = [(None if t.value is None else texts[t.value], t.l, t.k, t.m) for t in stated]
    return literal_rows([("value", "VARCHAR"), ("l", "BIGINT"), ("k", "BIGINT"), ("m", "BIGINT")], triples)


def _has_labels_above(export: ReceivedExport) -> bool:
    """Whether the certificate numbers the labels above each column's labels, if there are any between these labels and
    `*`.
    """
    return all(e.above or e.level is None or e.level + 1 >= e.height for e in export.certificate.levels)


def _coarser(export: ReceivedExport, exported: ExportedTables, named: Collection[str]) -> dict[str, exp.Query]:
    """Returns the labels above each column's labels, for `superset_steps`; for `named` columns, it also returns the
    column's own labels.

    Raises PrivacyViolation if the files show labels other than those that the certificate numbers.
    """
    ((_, table),) = exported.tables.items()
    types = [("value", "VARCHAR"), ("level", "BIGINT"), ("node", "BIGINT")]
    coarser: dict[str, exp.Query] = {}
    for entry in export.certificate.levels:
        is_named = fold(entry.attribute) in named
        if entry.level is None or not (entry.above or is_named):
            continue
        labels = select(as_text(column(entry.attribute)), distinct=True, of=table)
        texts = sorted((text for (text,) in exported.engine.rows(labels)), key=by_label)
        if entry.above and (
            len(texts) != len(entry.above) or any(len(n) != entry.height - entry.level - 1 for n in entry.above)
        ):
            raise PrivacyViolation(
                f"{export.called}: its certificate states other labels of {entry.attribute} than the files have",
                hint="ask the publisher for the export again",
            )
        rows = [
            (text, entry.level + above, node)
            for text, nodes in zip(texts, entry.above or [()] * len(texts), strict=True)
            for above, node in enumerate(nodes, start=1)
        ]
        rows += [(text, entry.level, number) for number, text in enumerate(texts) if is_named]
        coarser[entry.attribute] = literal_rows(types, rows)
    return coarser


def _numbers(
    export: ReceivedExport, engine: Engine, requirements: Sequence[BoundRequirement], rows: Rows
) -> dict[str, Taxonomy]:
    """Returns the columns whose numbers requirements read, each with the type of the column in the files.

    Raises PrivacyViolation for values that are not numbers, because the requirements are defined for numbers only.
    """
    taxonomies: dict[str, Taxonomy] = {}
    for name in dict.fromkeys(name for r in requirements if OF_NUMBERS in r.reads for name in r.attributes):
        taxonomies[name] = _taxonomy(engine, rows, name)
        kind = taxonomies[name].bound.published_type
        if not is_numeric(kind):
            raise PrivacyViolation(
                f"{export.called}: its policy compares the numbers of {name}, and the files hold {kind}",
                hint="ask the publisher for the export again",
            )
    return taxonomies


def _taxonomy(engine: Engine, rows: Rows, name: str) -> Taxonomy:
    """Returns a sensitive column with the type of its values in the files."""
    valued = rows.of_subject((name,))
    values = select(alias(valued.value(name), "value"), of=valued.relation)
    ((_, kind),) = engine.columns(with_steps(values, valued.steps))
    return Taxonomy(BoundAttribute(Attribute(name, Role.SENSITIVE), name, kind, kind))


def _evidence(
    requirement: BoundRequirement | JoinedRequirement,
    index: int | None,
    reached: Mapping[int, Measurement],
    stated: Mapping[str, Measurement],
    path: str,
) -> Evidence:
    """Returns the evidence of a requirement: its recomputed or its stated figure. Raises PrivacyViolation if the two
    differ.
    """
    claim = stated.get(str(requirement))
    if claim is not None and (claim.required != requirement.required or claim.satisfied is not True):
        raise PrivacyViolation(f"{path}: the certificate does not say that {requirement} is satisfied")
    if claim is None:
        raise PrivacyViolation(f"{path}: the certificate says nothing of {requirement}, which its policy requires")
    if index is None or index not in reached:
        return Evidence(claim, FROM_CERTIFICATE)
    measurement = reached[index]
    if not is_alike(measurement.achieved, claim.achieved):
        raise _other_figure(path, requirement, measurement, claim)
    return Evidence(measurement, FROM_FILES)


# ATTACK on an export: what its receiver can learn from the files.


def attack_export(engine: Engine, path: str, request: AttackRequest) -> list[AttackAnswer]:
    """Returns the answers of an attack on the files of the export at a path.

    Raises UserError if the files cannot be read, and PrivacyViolation if they differ from the certificate.
    """
    with about("path"):
        export = received(engine, path)
        export.require_consistent()
        with export.tables(engine) as exported:
            return attacked(exported.engine, _target(export, exported), request, exported.temp)


def _target(export: ReceivedExport, exported: ExportedTables) -> Target:
    policy = export.recorded.policy
    if policy.related:
        raise people_in_no_class(export.called)
    sensitive = policy.having(Role.SENSITIVE)
    columns: list[Column] = []
    for table, recorded in zip(exported.tables.values(), export.recorded.tables, strict=True):
        types = dict(exported.engine.columns(select(exp.Star(), of=table)))
        # By the source's names: a table of values has other names for columns.
        columns += [(part.source, types[part.name]) for part in recorded.columns]
    return Target(
        called=export.called,
        columns=tuple(columns),
        sensitive={attribute.name: attribute.distances for attribute in sensitive},
        rows=lambda statistics: exported.rows(statistics, range(len(statistics))),
        known=lambda: known_columns(export.recorded, [a.name for a in policy.quasi_identifiers]),
        requirements=export.requirements,
        against=policy.against,
    )


# ESTIMATE from an export: answers a query on the source from the files alone.


def estimate_export(engine: Engine, path: str, text: str, marginals: Marginals = ()) -> Answered:
    """Estimates a query from an exported release; `path` is the path of a data file or of the JSON certificate.

    `marginals` are tables of this database with the frequencies of generalized columns' values.

    Raises UserError if the files cannot be read, PrivacyViolation if a file is not the certified file, and PolicyError
    for a query that the files cannot answer.
    """
    if is_database_url(path):
        raise UserError(
            "an estimate reads the files of an export, and this is a database",
            hint="ask for an export as parquet or csv, or query the tables themselves",
        )
    query = parsed(text)
    require_parsed(engine, text)
    export = received(engine, path, "an estimate")
    release = export.model(source_names(export.recorded.policy))
    if export.needs_reader and (marginals or query.lookups):
        raise UserError(
            f"{path} is read on a separate connection, where the tables of this database cannot be joined or used as "
            "weights",
            hint="ask for an export as parquet or csv",
        )
    with export.opened(engine) as reader, reader.transaction(), TempTables(reader) as temp:
        return estimate(reader, query, release, temp, export.recorded.policy, marginals)
