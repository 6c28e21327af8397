{#
  The materialization `anonymized`: the model's SELECT is the source of a release, and the release is the model.

  sqlanon makes it on dbt's own connection, in a transaction that is over before the next model's begins: what fails
  leaves the former release as it was. dbt hands its connection to Python models alone, so the statement is one of Python.
#}
{% materialization anonymized, adapter='duckdb', supported_languages=['sql'] %}
  {%- set target = this.incorporate(type='table') -%}
  {%- do sqlanon_refuse_what_is_not_done() -%}
  {%- set settings = sqlanon_settings(target) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}

  {% call statement('main', language='python') -%}
    {{ sqlanon_job(settings) }}
  {%- endcall %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do persist_docs(target, model) %}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}


{#- What other materializations do and a release cannot: an error rather than a release without it. -#}
{% macro sqlanon_refuse_what_is_not_done() %}
  {%- if config.get('contract') and config.get('contract').enforced -%}
    {%- do exceptions.raise_compiler_error(
      'an anonymized model cannot enforce a contract: it generalizes values and leaves out columns. Test it instead'
    ) -%}
  {%- endif -%}
  {%- if config.get('grants') -%}
    {%- do exceptions.raise_compiler_error('an anonymized model cannot have grants: DuckDB has none') -%}
  {%- endif -%}
  {%- if config.get('indexes') -%}
    {%- do exceptions.raise_compiler_error('an anonymized model cannot have indexes: a release has none') -%}
  {%- endif -%}
{% endmacro %}


{#- What sqlanon makes the release from. With --empty and --sample, trials of the SQL, nothing is given away. -#}
{% macro sqlanon_settings(target) %}
  {%- set rendered = {} -%}
  {%- set policy = config.get('policy') -%}
  {%- if policy is mapping and (policy.get('hierarchies') or {}) is mapping -%}
    {#- LEVELS and PARENTS are read from a query, which may name another model. -#}
    {%- for column, kind in (policy.get('hierarchies') or {}).items() -%}
      {%- do rendered.update({column: render(kind) if kind is string else kind}) -%}
    {%- endfor -%}
    {%- if rendered -%}
      {%- set policy = dict(policy, hierarchies=rendered) -%}
    {%- endif -%}
  {%- endif -%}
  {% do return({
    'macros': '@version@',
    'database': target.database,
    'schema': target.schema,
    'identifier': target.identifier,
    'source': compiled_code,
    'policy': policy,
    'method': config.get('method'),
    'choose_method': config.get('choose_method'),
    'keys': model.config.keys() | list,
    'export': config.get('export') if not (flags.EMPTY or flags.SAMPLE) else none,
    'full_refresh': should_full_refresh(),
  }) %}
{% endmacro %}


{#- The module of a Python model, as dbt-duckdb runs it: `model` gets the connection. -#}
{% macro sqlanon_job(settings) -%}
import json

from sqlanon.clients.dbt.model import publish


def dbtObj(load):
    return None


def model(dbt, connection):
    publish(connection, json.loads({{ tojson(tojson(settings)) }}))


def materialize(nothing, connection):
    pass
{%- endmacro %}
