-- The settings by which the text of a query means what it does.
SELECT
    system.main.current_setting('default_collation'),
    system.main.current_setting('integer_division'),
    system.main.current_setting('preserve_identifier_case'),
    system.main.current_setting('current_dialect'),
    system.main.current_setting('dialect_compatibility_mode'),
    CAST(system.main.current_setting('active_grammar_extensions') AS VARCHAR),
    system.main.current_setting('allow_parser_override_extension'),
    system.main.current_setting('max_expression_depth')
