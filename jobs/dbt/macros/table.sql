{#
  Table in an Iceberg catalog. The stock materialization renames a new table, which the catalog's transactions reject.

  A new table is created and filled in one transaction. CREATE TABLE AS is not used: DuckDB makes a local folder for it.

  Rows of an existing table are replaced in one transaction, which the catalog commits at once: readers see all old rows
  or all new ones. A table whose columns have changed is dropped first.
#}
{% materialization table, adapter='duckdb' %}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set wanted = get_column_schema_from_query(sql) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {% if existing is not none %}
    {%- set held = adapter.get_columns_in_relation(existing) -%}
    {% if lineage_lab_columns(wanted) != lineage_lab_columns(held) %}
      {% do adapter.drop_relation(existing) %}
      {% do adapter.commit() %}
      {%- set existing = none -%}
    {% endif %}
  {% endif %}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {% call statement('main') -%}
    {% if existing is none %}
      create table {{ target_relation }} ({{ lineage_lab_definitions(wanted) }});
    {% else %}
      delete from {{ target_relation }};
    {% endif %}
    insert into {{ target_relation }} ({{ sql }});
  {%- endcall %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{% macro lineage_lab_definitions(columns) -%}
  {%- for column in columns -%}
    {{ adapter.quote(column.name) }} {{ column.data_type }}{{ ", " if not loop.last }}
  {%- endfor -%}
{%- endmacro %}

{% macro lineage_lab_columns(columns) -%}
  {% set found = [] %}
  {% for column in columns %}{% do found.append((column.name | lower) ~ ' ' ~ (column.data_type | lower)) %}{% endfor %}
  {{ return(found) }}
{%- endmacro %}
