"""What each test file is about: `make test PYTEST_ARGS="-m anatomy"` runs what is tested of anatomy.

A file has the subjects that name it, without `test_`; files of one name in several folders are about the same.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["PARTS", "SUBJECTS", "subjects_of"]

_FILES = {
    "generalization": (
        "add_a_loss annealing beyond_the_bound encode generalization_optimal hospital infeasible keys lattice_optimal "
        "lattice_search limits losses method_arguments methods methods_killed "
        "models_optimal order_linkage release_query release_sql rollups search_heuristic shared steps"
    ),
    "local_recoding": "cell_suppression infeasible local_recoding losses",
    "mondrian": (
        "limits method_arguments methods methods_killed mondrian mondrian_bounds mondrian_live mondrian_oracle steps"
    ),
    "microaggregation": "limits method_arguments methods methods_killed microaggregation steps",
    "anatomy": (
        "anatomy anatomy_estimates anatomy_models assumptions bucket_checks bucket_releases bucket_tables buckets "
        "definetti estimate_anatomy estimates_dealt methods methods_killed one_row_each steps"
    ),
    "m_invariance": "limits m_invariance m_invariance_ranges methods methods_killed",
    "fragments": (
        "apart constraints estimate_fragments estimates_fragments fragment_releases fragments methods methods_killed "
        "steps"
    ),
    "loose": (
        "apart estimate_fragments estimates_fragments fragment_releases groups left_out loose_associations "
        "loose_estimates loose_grids limits methods methods_killed steps"
    ),
    "slicing": (
        "estimates_fragments estimates_sliced pivot similarity sliced_releases slicing slicing_columns "
        "slicing_correlation slicing_fakes slicing_ranges"
    ),
    "itemsets": "itemsets coherence methods methods_killed",
    "related_tables": "related_policy related_releases related_tables",
    "trivial": "methods methods_killed sliced_releases trivial",
    "models": (
        "add_a_model anatomy_models background_knowledge bind_requirements export_models explanation_models "
        "joint_distance live_models models models_end_to_end models_optimal normal_relations nt_closeness numbers "
        "numeric_secrets "
        "portable projections pycanon questions related_policy requirements t_closeness thresholds"
    ),
    "attacks": (
        "attack attack_minimality attacks attacks_composition attacks_linkage attacks_minimality bounds_of_attacks "
        "membership_attack rules_attack"
    ),
    "profile": "profile profile_names profile_relations profile_values safe_harbor short_release",
    "series": (
        "attacks_composition check_joined joined_policies joined_policy ledger m_invariance refresh "
        "sequential_releases series series_rows series_worlds"
    ),
    "streams": "stream stream_killed",
    "check": (
        "bucket_checks check check_export check_figures check_relation composition macros_arguments "
        "macros_bare_client macros_models steps"
    ),
    "hierarchies": (
        "add_a_hierarchy_kind coarse_values "
        "catalog_hierarchies column_types encode hierarchies_calendar hierarchies_definitions hierarchies_intervals "
        "hierarchies_labels hierarchies_open_ends hierarchies_prefixes hierarchies_rounding hierarchies_stored "
        "hierarchies_types keys masked_values checked_masks pseudonym shifted_dates files_and_spellings uneven_trees"
    ),
    "sources": (
        "bound_names column_types data_frames entity files_and_spellings lookup_keys macro_watch named_sources names "
        "pivot release_sql source_gone sources"
    ),
    "live_views": (
        "bound_names changed_types guard live_labels live_models live_view mondrian_live names release_sql settings "
        "side_channels source_gone"
    ),
    "explain": (
        "advice assumptions default_method determined_columns explain explain_brief explanation explanation_limits "
        "explanation_models kept_method remarks"
    ),
    "estimates": (
        "anatomy_estimates answers counted_rows estimate estimate_anatomy estimate_fragments estimates estimates_dealt "
        "estimates_exact estimates_sums "
        "estimates_fragments estimates_marginals estimates_sliced estimates_types exact_bounds "
        "budgets estimate_null_labels lookup_keys loose_estimates noise_attacks noise_laws "
        "accounting explain_estimate noisy_answers noisy_histograms steps synthetic_rows synthetic_tables"
    ),
    "measure": (
        "add_a_figure answers class_counts counted_rows estimate_fragments exact_bounds figures frontier "
        "granularity_loss level_losses masks measure "
        "measure_figures figures_in_words measure_task learning_task linked_rows measure_together membership "
        "pages_in_a_browser policy_page population_estimates population_risk ratings report samples "
        "first_screen report_columns report_words rounding special_uniques templates typical_counts u_loss workloads"
    ),
    "export": (
        "assumptions composition content export export_bytes export_certificate export_formats export_leftovers "
        "certificate_schema "
        "export_models export_options export_place export_replace export_targets export_drill forged_certificates jobs "
        "postgres_drill postgres_export exported_databases postgres_import postgres_schemas report_files signature "
        "sources_elsewhere url_passwords"
    ),
    "catalog": (
        "catalog_changed catalog_hierarchies catalog_json catalog_policies catalog_releases composition "
        "migrations new_database readers related_policy"
    ),
    "syntax": (
        "add_a_statement common_mistakes error_places friendly_sql grammar hostile_names identifiers listings "
        "long_texts parameters query_files related_policy short_release tree_builders "
        "statement_facts statement_round_trip statements_end_to_end syntax_errors syntax_parser syntax_script"
    ),
    "engines": (
        "adjustable anonymize anonymized_frames arrow_results classes_of_cells clients data_frames dbt dbt_macros "
        "docstrings engine fixed_cost killed_driver lost_executor named_sources notebook page polars_frames published "
        "release_files releases session session_settings settings statement_log summaries "
        "temp_tables typed_classes typed_policies"
    ),
    "serve": (
        "budget_grants door_budgets door_clients door_estimates door_gate door_kills door_limits door_protocol "
        "door_refresh door_tls gate gate_nodes gate_scopes keeper rooms_of_databases serve serve_clients "
        "serve_messages serve_page serve_rooms serve_wire"
    ),
    "warehouses": "compile warehouse_scripts",
    "terminal": "cli data_files datasets exit_codes presentation private_files schedulers shell summary",
    "kills": "exit_codes export_drill export_leftovers export_place kill killed_driver methods_killed postgres_drill "
    "report_files stream_killed",
    "project": (
        "benchmarks broken_files budget changed_tests distributions docs docs_size examples extras helpers imports "
        "maintainers makefile paper_figures paper_slicing paper_tables plug_ins prose pure readme site_search subjects "
        "tree version words"
    ),
}
SUBJECTS = {subject: frozenset(files.split()) for subject, files in _FILES.items()}

# What tests the parts of the package, for `make test-changed`: subjects, and "everything" for a part that all rest on.
# A part that lies in another one has its own line here where its subjects are others.
_PARTS = {
    "republication": "series streams",
    "republication.series": "series m_invariance",
    "republication.streams": "streams",
    "assess": "check measure estimates",
    "assess.attack": "attacks",
    "assess.attacks": "attacks",
    "assess.figures": "measure",
    "assess.profiling": "profile",
    "assess.tasks": "measure",
    "assess.workloads": "measure",
    "assets": "everything",
    "catalog": "catalog export",
    "catalog.exports": "export catalog",
    "catalog.frontiers": "measure catalog",
    "catalog.hierarchies": "hierarchies catalog",
    "catalog.jobs": "export catalog",
    "catalog.ledger": "series catalog",
    "catalog.migrations": "catalog",
    "catalog.policies": "catalog models",
    "catalog.series": "series catalog",
    "catalog.streams": "streams catalog",
    "catalog.workloads": "measure catalog",
    "clients": "engines",
    "clients.api": "engines syntax",
    "clients.dbt": "engines",
    "clients.frames": "engines terminal",
    "clients.jobs": "export kills",
    "clients.notebook": "measure engines",
    "clients.serve": "serve",
    "clients.session": "everything",
    "clients.terminal": "terminal",
    "domain": "generalization live_views",
    "engines": "everything",
    "engines.adbc": "export",
    # Releases on Spark; stand-ins are read by the errors of every engine.
    "engines.federated": "engines",
    "engines.federated.stand_ins": "everything",
    "engines.postgres_url": "export",
    "engines.spark": "engines",
    "engines.udfs": "everything",
    "errors": "everything",
    "estimates": "estimates measure",
    "export": "export",
    "export.report": "measure",
    "export.warehouses": "warehouses",
    "methods": "everything",
    "methods.anatomy": "anatomy",
    "methods.fragmentation": "fragments loose",
    "methods.generalization": "generalization local_recoding explain",
    "methods.itemsets": "itemsets",
    "methods.m_invariance": "m_invariance",
    "methods.microaggregation": "microaggregation",
    "methods.mondrian": "mondrian",
    "methods.multirelational": "related_tables",
    "methods.shared": "models",
    "methods.shared.lattice": "generalization local_recoding related_tables explain",
    "methods.noisy": "estimates",
    "methods.slicing": "slicing",
    "methods.trivial": "trivial",
    "plugins": "project",
    "release": "everything",
    "release.existing": "live_views catalog",
    "release.pipeline": "everything",
    "release.pipeline.advise": "explain",
    "release.pipeline.check": "check",
    "release.pipeline.compile": "warehouses",
    "release.pipeline.explain": "explain",
    "release.pipeline.summary": "explain",
    "release.remarks": "explain",
    "sources": "sources hierarchies live_views",
    "sql": "generalization models live_views",
    "sql.hierarchies": "hierarchies generalization",
    "sql.questions": "models check",
    "statements": "everything",
    "statements.budgets": "estimates",
    "statements.checks": "check attacks series",
    "statements.frontiers": "measure explain",
    "statements.hierarchies": "hierarchies",
    "statements.listings": "syntax",
    "statements.readers": "catalog",
    "statements.policies": "models catalog syntax profile",
    "statements.releases": "live_views estimates export series",
    "statements.series": "series",
    "statements.streams": "streams",
    "statements.workloads": "measure",
    "syntax": "syntax",
}
PARTS = {part: None if of == "everything" else frozenset(of.split()) for part, of in _PARTS.items()}
# A method without a line here selects everything.
_METHODS = Path(__file__).resolve().parents[2] / "sqlanon" / "methods"
PARTS = {f"methods.{file.parent.name}": None for file in _METHODS.glob("*/__init__.py")} | PARTS


def subjects_of(path: Path) -> list[str]:
    """The subjects of a test file; none for a file that no subject names."""
    own = path.stem.removeprefix("test_")
    return [subject for subject, files in SUBJECTS.items() if own in files]
