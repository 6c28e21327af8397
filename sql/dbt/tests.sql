{#
  Generic tests: each fails with the equivalence classes that violate, a row each: what they show of the
  quasi-identifiers, and `class_size`, the rows of the class. Rows are counted, and NULL is a value.
  The SQL that finds them is that of the models themselves (violations.sql).
#}
{% test k_anonymous(model, quasi_identifiers, k) %}
  {{ sqlanon_violating('k_anonymity', model, quasi_identifiers, none, {'k': k}) }}
{% endtest %}


{% test l_diverse(model, quasi_identifiers, l, sensitive=none, column_name=none, variant='distinct', c=none) %}
  {%- set arguments = {'l': l} if c is none else {'l': l, 'c': c} -%}
  {{ sqlanon_violating(variant ~ '_l_diversity', model, quasi_identifiers, sensitive or sqlanon_unquoted(column_name), arguments) }}
{% endtest %}


{% test t_close(model, quasi_identifiers, t, sensitive=none, column_name=none, distance='equal') %}
  {{ sqlanon_violating(distance ~ '_t_closeness', model, quasi_identifiers, sensitive or sqlanon_unquoted(column_name), {'t': t}) }}
{% endtest %}


{% macro sqlanon_violating(question, model, quasi_identifiers, sensitive, arguments) %}
  {#- While dbt parses a project nothing is asked, and what is wrong with one test keeps no other from running. -#}
  {%- if execute -%}
  {%- set columns = [quasi_identifiers] if quasi_identifiers is string else quasi_identifiers -%}
  {%- set values = [sensitive] if sensitive is string else (sensitive or []) -%}
  {%- set given = sqlanon_arguments(question, arguments) -%}
  {%- do sqlanon_require(columns, question ~ ' needs quasi_identifiers: name at least one column') -%}
  {%- do sqlanon_require(values or question == 'k_anonymity', question ~ ' needs sensitive: name a column') -%}
  {%- do sqlanon_require_plain_comparisons() -%}
  {%- set quoted = sqlanon_quoted(columns) -%}
  {%- set quoted_values = sqlanon_quoted(values) -%}
  {%- set tuple = 'row(' ~ quoted_values | join(', ') ~ ')' -%}
  {%- do given.update({
    'relation': '(SELECT * FROM ' ~ model ~ ')',
    'columns': quoted | join(', '),
    'value': tuple if values | length > 1 else quoted_values[0] if values else 'NULL',
    'guard': 'NULL',
    'collations': sqlanon_collations(quoted + quoted_values),
  }) -%}
  SELECT {% for column in columns -%}
    class_id[{{ loop.index }}] AS {{ adapter.quote(column | replace('"', '""')) }}, {% endfor -%}
    size AS class_size
  FROM (
{{ sqlanon_violations(question, given) }}
  ) AS violating
  {%- endif -%}
{% endmacro %}


{% macro sqlanon_require(condition, otherwise) %}
  {%- if not condition -%}
    {%- do exceptions.raise_compiler_error(otherwise) -%}
  {%- endif -%}
{% endmacro %}


{#- The column that a test stands below: dbt hands on its name in quotes where its config says `quote: true`. -#}
{% macro sqlanon_unquoted(name) %}
  {%- do return(name[1:-1] if name and name[0] == '"' and name[-1] == '"' else name) -%}
{% endmacro %}


{% macro sqlanon_quoted(columns) %}
  {%- set quoted = [] -%}
  {%- for column in columns -%}
    {%- do quoted.append('"__sqlanon_source"."' ~ column | replace('"', '""') ~ '"') -%}
  {%- endfor -%}
  {%- do return(quoted) -%}
{% endmacro %}


{#- A comparison that no value ever gets to: of a column with a collation it is an error. Under one, classes would look
    larger than they are. -#}
{% macro sqlanon_collations(columns) %}
  {%- set comparisons = [] -%}
  {%- for column in columns -%}
    {%- for collation in ('nocase', 'noaccent') -%}
      {%- do comparisons.append("CAST(" ~ column ~ " AS VARCHAR) = ('a' COLLATE " ~ collation ~ ")") -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- do return(comparisons | join(' OR ')) -%}
{% endmacro %}


{#- Refuses the settings under which classes look larger than they are, or shares are whole numbers. -#}
{% macro sqlanon_require_plain_comparisons() %}
  {%- set query -%}
    SELECT lower(current_setting('default_collation')) IN ('', 'binary', 'c', 'posix')
      AND NOT current_setting('integer_division')
  {%- endset -%}
  {%- do sqlanon_require(
    run_query(query).rows[0][0],
    'this test needs a session without default_collation and integer_division: take them out of the profile'
  ) -%}
{% endmacro %}


{#- What stands for $name in the SQL of a model: numbers as they are written, within the bounds of the model. -#}
{% macro sqlanon_arguments(question, arguments) %}
  {%- set parameters = sqlanon_parameters() -%}
  {%- do sqlanon_require(question in parameters, 'there is no test for ' ~ question ~ ', but for ' ~ parameters | join(', ')) -%}
  {%- set given = {} -%}
  {%- for name in arguments -%}
    {%- do sqlanon_require(name in parameters[question], question ~ ' has no argument ' ~ name) -%}
  {%- endfor -%}
  {%- for name, parameter in parameters[question].items() -%}
    {%- do sqlanon_require(arguments[name] is defined and arguments[name] is not none, question ~ ': ' ~ name ~ ' is missing') -%}
    {%- set text = arguments[name] | string -%}
    {%- set is_whole = modules.re.fullmatch('[0-9]{1,19}', text) -%}
    {%- set is_number = is_whole if parameter.type == 'BIGINT' else modules.re.fullmatch('[0-9]{1,20}([.][0-9]{1,21})?', text) -%}
    {%- do sqlanon_require(
      is_number,
      question ~ ': ' ~ name ~ ' must be a ' ~ ('whole number' if parameter.type == 'BIGINT' else 'number') ~ ', not ' ~ text
    ) -%}
    {%- set value = text | int if is_whole else text | float -%}
    {%- do sqlanon_require(
      parameter.low <= value and value <= parameter.high,
      question ~ ': ' ~ name ~ ' = ' ~ text ~ ' is outside ' ~ parameter.low ~ ' to ' ~ parameter.high
    ) -%}
    {%- if parameter.type == 'BIGINT' -%}
      {%- do given.update({name: text}) -%}
    {%- else -%}
      {#- Just what is written, as a fraction of whole numbers. -#}
      {%- set parts = text.split('.') -%}
      {%- set digits = parts[1] if parts | length == 2 else '' -%}
      {%- do given.update({
        name: 'CAST(' ~ text ~ ' AS DOUBLE)',
        name ~ '_numerator': 'CAST(' ~ (parts[0] ~ digits) | int ~ ' AS DECIMAL(38, 0))',
        name ~ '_denominator': 'CAST(' ~ 10 ** (digits | length) ~ ' AS DECIMAL(38, 0))',
      }) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(given) -%}
{% endmacro %}
