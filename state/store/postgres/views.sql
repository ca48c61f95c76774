-- Read-only views of the states in {table}. It is safe to run this again.
BEGIN;

-- The deployment in a stored state: {} before the first one; NULL for content that is not a state in JSON, such as a compressed one.
CREATE OR REPLACE FUNCTION {prefix}deployment(data json) RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog AS $body$
DECLARE
  content jsonb;
  latest jsonb;
BEGIN
  content := replace(convert_from(decode(data->>'data', 'base64'), 'UTF8'), '\u0000', '\ufffd')::jsonb;
  IF NOT content ?| ARRAY['checkpoint', 'latest'] THEN
    RETURN NULL;
  END IF;
  latest := coalesce(content #> '{checkpoint,latest}', content -> 'latest');
  IF latest IS NULL OR jsonb_typeof(latest) = 'null' THEN
    RETURN '{}';
  END IF;
  IF jsonb_typeof(latest) <> 'object' OR jsonb_typeof(latest -> 'resources') NOT IN ('array', 'null') THEN
    RETURN NULL;
  END IF;
  RETURN latest;
EXCEPTION WHEN OTHERS THEN
  RETURN NULL;
END
$body$;

-- One row for each stack.
CREATE OR REPLACE VIEW {prefix}stacks AS
WITH found AS (
  SELECT substring(key from '^\.pulumi/stacks/([^/]+)/[^/]+$') AS project,
    substring(key from '^\.pulumi/stacks/(?:[^/]+/)?([^/]+)\.(?:json|yaml|yml)(?:\.gz|\.zst)?$') AS stack,
    updated_at, {prefix}deployment(data) AS deployment
  FROM {table}
  WHERE key ~ '^\.pulumi/stacks/(?:[^/]+/)?[^/]+\.(?:json|yaml|yml)(?:\.gz|\.zst)?$'
)
SELECT project, stack, updated_at AS modified, deployment IS NOT NULL AS readable,
  CASE jsonb_typeof(deployment -> 'resources') WHEN 'array' THEN jsonb_array_length(deployment -> 'resources') WHEN 'null' THEN 0
    ELSE CASE WHEN deployment IS NOT NULL THEN 0 END END AS resources,
  deployment #>> '{secrets_providers,type}' AS secrets_provider
FROM found;

-- One row for each recorded resource. Secrets in inputs and outputs are encrypted.
CREATE OR REPLACE VIEW {prefix}resources AS
WITH found AS (
  SELECT substring(key from '^\.pulumi/stacks/([^/]+)/[^/]+$') AS project,
    substring(key from '^\.pulumi/stacks/(?:[^/]+/)?([^/]+)\.json$') AS stack,
    CASE jsonb_typeof(deployment -> 'resources') WHEN 'array' THEN deployment -> 'resources' ELSE '[]' END AS resources
  FROM (SELECT key, {prefix}deployment(data) AS deployment FROM {table} WHERE key ~ '^\.pulumi/stacks/(?:[^/]+/)?[^/]+\.json$' OFFSET 0) AS decoded
)
SELECT found.project, found.stack, r ->> 'urn' AS urn, r ->> 'type' AS type,
  substring(r ->> 'urn' from '^urn:pulumi:.*?::.*?::.*?::(.*)$') AS name,
  coalesce(r ->> 'id', '') AS id, coalesce(r ->> 'parent', '') AS parent, coalesce(r ->> 'provider', '') AS provider,
  coalesce(substring(r ->> 'type' from '^pulumi:providers:(.*)$'), substring(r ->> 'provider' from '::pulumi:providers:(.*?)::'), '') AS provider_package,
  coalesce(CASE WHEN r ->> 'type' LIKE 'pulumi:providers:%' THEN r #>> '{inputs,version}' ELSE versions ->> (r ->> 'provider') END, '') AS provider_version,
  coalesce((r -> 'custom') = 'true', false) AS custom, coalesce((r -> 'external') = 'true', false) AS external,
  coalesce((r -> 'protect') = 'true', false) AS protect, coalesce((r -> 'retainOnDelete') = 'true', false) AS retain_on_delete,
  coalesce((r -> 'taint') = 'true', false) AS taint, coalesce((r -> 'delete') = 'true', false) AS pending_delete,
  coalesce((r -> 'pendingReplacement') = 'true', false) AS pending_replacement,
  coalesce(nullif(r -> 'dependencies', 'null'), '[]') AS dependencies,
  coalesce(nullif(r -> 'propertyDependencies', 'null'), '{}') AS property_dependencies,
  (r ->> 'created')::timestamptz AS created, (r ->> 'modified')::timestamptz AS modified,
  coalesce(nullif(r -> 'inputs', 'null'), '{}') AS inputs, coalesce(nullif(r -> 'outputs', 'null'), '{}') AS outputs
FROM found
CROSS JOIN LATERAL (
  SELECT jsonb_object_agg((p ->> 'urn') || '::' || coalesce(p ->> 'id', ''), p #> '{inputs,version}') AS versions
  FROM jsonb_array_elements(found.resources) AS p
  WHERE p ->> 'type' LIKE 'pulumi:providers:%' AND p ->> 'urn' IS NOT NULL
) AS provided
CROSS JOIN LATERAL jsonb_array_elements(found.resources) AS r;

-- One row for each recorded provider.
CREATE OR REPLACE VIEW {prefix}providers AS
WITH found AS (SELECT * FROM {prefix}resources WHERE type LIKE 'pulumi:providers:%')
SELECT project, stack, urn, name, id, provider_package AS package, provider_version AS version, pending_delete, inputs AS configuration FROM found;

-- One row for each recorded reference to another stack, with the outputs of that stack as they were when it was read.
CREATE OR REPLACE VIEW {prefix}stack_references AS
WITH found AS (SELECT * FROM {prefix}resources WHERE type = 'pulumi:pulumi:StackReference')
SELECT project, stack, urn, name, coalesce(inputs ->> 'name', id) AS referenced, coalesce(outputs -> 'outputs', '{}') AS outputs FROM found;

COMMIT;
