{# A model's schema is the one that it is configured with; the target's is that of DuckDB's own memory. #}
{% macro generate_schema_name(custom_schema_name, node) -%}
  {{ custom_schema_name or target.schema }}
{%- endmacro %}
