"""The settings of DuckDB that a reader may try, with values for each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import duckdb

from tests.support.attacks.settings import CHECKS, MACROS, QUERIES, READS

__all__ = [
    "LIMITS",
    "MEANINGS",
    "REFUSED",
    "SKIPPED",
    "SOME_MACROS",
    "TRIED",
    "UNLISTED",
    "kinds_of_settings",
    "put",
    "values_of",
]

# Settings that are not tried, by the reason.
SKIPPED = {
    "memory, threads and sizes of what is computed at once": """
        allocator_background_threads allocator_bulk_deallocation_flush_threshold allocator_flush_threshold
        async_threads block_allocator_memory external_threads max_memory max_streaming_buffer_size
        max_temp_directory_size memory_limit operator_memory_limit pin_threads read_ahead_depth
        scheduler_process_partial streaming_buffer_size threads worker_threads""",
    "how and when a database file is written": """
        auto_checkpoint_skip_wal_threshold checkpoint_on_detach checkpoint_threshold
        debug_checkpoint_scan_sleep_ms default_block_size disabled_compression_methods enable_optimistic_write
        experimental_metadata_reuse force_column_metadata_reuse force_compression fsync_mode
        geometry_minimum_shredding_size initial_column_segment_size max_vacuum_tasks partitioned_write_flush_threshold
        partitioned_write_max_open_files storage_block_prefetch storage_compatibility_version
        temp_file_encryption variant_minimum_shredding_size wal_autocheckpoint wal_autocheckpoint_entries
        write_buffer_row_group_count write_buffer_row_group_memory_limit zstd_min_string_length""",
    "files, networks, extensions and secrets, which no view of ours reads": """
        access_mode allow_community_extensions allow_extension_repositories allow_extensions_metadata_mismatch
        allow_parser_override_extension allow_persistent_secrets allow_unredacted_secrets allow_unsigned_extensions
        allowed_configs allowed_directories allowed_paths autoinstall_extension_repository autoinstall_known_extensions
        autoload_known_extensions binary_as_string cache_local_files custom_extension_repository custom_user_agent
        default_secret_storage disable_parquet_prefetching disabled_filesystems duckdb_api enable_external_access
        enable_external_file_cache enable_geoparquet_conversion enable_http_metadata_cache extension_directories
        extension_repository_directory external_file_cache_local_max_block_size
        external_file_cache_remote_max_block_size external_file_cache_remote_min_block_size
        external_file_cache_request_sizing external_file_cache_spill file_search_path home_directory
        http_client_pool_capacity http_proxy http_proxy_password http_proxy_username parquet_metadata_cache
        parquet_prefetch_column_gap password prefetch_all_parquet_files redact_http_logs secret_directory
        temp_directory user username validate_external_file_cache""",
    "how results, plans and errors are handed to the client": """
        arrow_large_buffer_size arrow_lossless_conversion arrow_output_list_view arrow_output_version
        catalog_error_max_schemas enable_profiling enable_progress_bar enable_progress_bar_print errors_as_json
        explain_output json_geometry_format pandas_analyze_sample profile_output profiling_coverage profiling_output
        profiling_renderer_settings progress_bar_time python_enable_replacements python_scan_all_frames show_behavior
        tracked_metrics""",
    "logs, which the threat model speaks of": """
        disabled_log_types enable_logging enabled_log_types log_query_path logging_level logging_mode
        logging_storage""",
    "what names mean is the reader's to say, as the threat model states": "schema search_path",
    "it cannot be set, or nothing can be set after it": """
        active_grammar_extensions current_dialect lock_configuration standard_vector_size warnings_as_errors""",
    "what becomes of a transaction, or of a database, after an error": """
        current_transaction_invalidation_policy default_transaction_invalidation_policy disable_database_invalidation
        immediate_transaction_mode""",
}
# Values worth trying that do not follow from a setting's type. Where they are refused, they are left out.
VALUES: Mapping[str, tuple[str, ...]] = {
    "Calendar": ("japanese", "hebrew"),
    "TimeZone": ("Asia/Kolkata", "America/New_York"),
    "default_collation": ("NOCASE", "noaccent", "NFC", "de", "th", "NOCASE.NOACCENT", "binary", "C"),
    "default_null_order": ("NULLS FIRST", "postgres"),
    "null_order": ("sqlite",),
    "default_order": ("DESC",),
    "dialect_compatibility_mode": ("spark",),
    "disabled_optimizers": (
        "expression_rewriter,filter_pullup,filter_pushdown,statistics_propagation",
        "cte_filter_pusher,cte_inlining,common_subexpressions,common_subplan,materialized_cte",
        "column_lifetime,compressed_materialization,deliminator,join_order,reorder_filter,unused_columns",
    ),
    "preserve_identifier_case": ("lowercase", "uppercase"),
}
# Settings under which a reader may be refused, whatever they ask.
LIMITS = ("max_execution_time", "max_expression_depth")
# Settings that DuckDB 2.0.1 still has and does not list, those of them that are named here.
UNLISTED = {
    "error_on_division_by_zero",
    "experimental_metadata_reuse",
    "force_column_metadata_reuse",
    "legacy_disable_null_type",
    "logging_storage",
    "regex_match_operator_semantics",
}
# Settings by which views and verdicts could mean something else.
MEANINGS = (
    "Calendar",
    "TimeZone",
    "default_collation",
    "default_null_order",
    "default_order",
    "dialect_compatibility_mode",
    "error_on_division_by_zero",
    "ieee_floating_point_ops",
    "integer_division",
    "legacy_disable_null_type",
    "order_by_non_integer_literal",
    "preserve_identifier_case",
    "preserve_insertion_order",
    "regex_match_operator_semantics",
    "scalar_subquery_error_on_multiple_rows",
)
# The views that a session may not read under other values, by the setting; a collation and a division are for all.
REFUSED = {
    "default_collation": {*READS, *MACROS, *CHECKS},
    "integer_division": {*MACROS, *CHECKS},
    "TimeZone": {"listed moments", *QUERIES},
    "Calendar": {"listed moments", *QUERIES},
    **{
        name: set(QUERIES)
        for name in (
            "default_null_order",
            "null_order",
            "default_order",
            "dialect_compatibility_mode",
            "disable_timestamptz_casts",
            "error_on_division_by_zero",
            "ieee_floating_point_ops",
            "scalar_subquery_error_on_multiple_rows",
        )
    },
}
# Few enough for every setting; all are asked under those of MEANINGS.
SOME_MACROS = ("ordered", "hierarchical", "value_ranges", "personalized")


# All settings but those of SKIPPED; a test asks DuckDB whether any is missing.
TRIED = """
    Calendar TimeZone approximate_join_order_threshold asof_loop_join_threshold default_collation default_null_order
    default_order dialect_compatibility_mode disable_timestamptz_casts disabled_optimizers dynamic_or_filter_threshold
    enable_fsst_vectors enable_macro_dependencies enable_optimizer enable_view_dependencies http_retry_quota_throttled
    http_retry_throttled_wait_ms ieee_floating_point_ops ignore_unknown_crs index_scan_max_count index_scan_percentage
    integer_division late_materialization_max_rows logging_sink max_execution_time max_expression_depth
    merge_join_threshold nested_loop_join_threshold null_order order_by_non_integer_literal
    ordered_aggregate_threshold parquet_can_have_nan parquet_use_page_index perfect_ht_threshold
    pivot_filter_threshold pivot_limit prefer_range_joins preserve_identifier_case preserve_insertion_order
    scalar_subquery_error_on_multiple_rows""".split()


def kinds_of_settings() -> dict[str, str]:
    """Returns the type of each setting that is not skipped, as the installed DuckDB has them."""
    skipped = {name for names in SKIPPED.values() for name in names.split()}
    with duckdb.connect() as con:
        found = con.execute("SELECT name, input_type FROM duckdb_settings()").fetchall()
    return {name: kind for name, kind in found if name not in skipped}


def values_of(con: Any, name: str, kind: str) -> list[str]:
    """Literals to set it to: those that are known, the other truth, numbers, or words of the error about another."""
    if name in VALUES:
        return [f"'{value}'" for value in VALUES[name]]
    now, described = con.execute("SELECT value, description FROM duckdb_settings() WHERE name = ?", [name]).fetchone()
    if kind == "BOOLEAN":
        return ["false" if now == "true" else "true"]
    if kind.endswith("INT") or kind == "DOUBLE":
        return ["0", "1", "100000"]
    try:
        con.execute(f"SET {name} = 'no such value'")
    except duckdb.Error as error:
        return sorted({f"'{word.lower()}'" for word in re.findall(r"[\w.]+", f"{error} {described}")})
    return ["'no such value'"]


def put(con: Any, name: str, value: str, how: str = "SET") -> bool:
    """Whether DuckDB lets a session set this."""
    try:
        con.execute(f"{how} {name} = {value}")
    except duckdb.Error:
        return False
    return True
