package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/postgrestest"
)

const viewedProgram = `name: shop
runtime: yaml
resources:
  cloud: {type: pulumi:providers:sim, properties: {directory: cloud}}
  bucket:
    type: sim:Resource
    properties: {properties: {acl: public-read, strange: "a\0b"}}
    options: {provider: "${cloud}", protect: true}
  pet:
    type: random:RandomPet
    properties: {prefix: {fn::secret: hidden}}
    options: {dependsOn: ["${bucket}"]}
outputs:
  vpc: net-1
`

const readerProgram = `name: reader
runtime: yaml
resources:
  shop: {type: "pulumi:pulumi:StackReference", properties: {name: organization/shop/dev}}
`

// The views in a database say the same as `sluice query`, also beside rows that SQL cannot read, and nothing can be written through them.
func TestViewsInPostgreSQLHaveWhatIsRecorded(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.Start(t)
	dir := t.TempDir()
	sluice := filepath.Join(dir, "sluice")
	linkSluice(t, sluice)
	folder := func(name, program string) string {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(at, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(at, "Pulumi.yaml"), []byte(program), 0o644))
		return at
	}
	shop, reader := folder("shop", viewedProgram), folder("reader", readerProgram)
	run := func(in, backend, variable string, args ...string) string {
		t.Helper()
		cmd := exec.Command(sluice, append(args, "--non-interactive")...)
		cmd.Dir = in
		cmd.Env = append(os.Environ(), "HOME="+dir+"/home", "PULUMI_HOME="+dir+"/home/.pulumi", "PULUMI_BACKEND_URL="+backend, "PULUMI_CONFIG_PASSPHRASE=p", variable)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		require.NoError(t, err, "%v\n%s", args, out)
		return string(out)
	}
	db, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer db.Close(ctx)
	_, err = db.Exec(ctx, `CREATE SCHEMA tools`)
	require.NoError(t, err)

	for name, place := range map[string]struct{ backend, table, prefix string }{
		"the usual table":           {url, "pulumi_state", "sluice_"},
		"a table in another schema": {url + "&table=tools.states", "tools.states", "tools.sluice_states_"},
	} {
		t.Run(name, func(t *testing.T) {
			sluice := func(in string, args ...string) string { return run(in, place.backend, "A=1", args...) }
			sluice(shop, "stack", "init", "dev")
			sluice(shop, "up", "--yes", "--skip-preview", "--stack", "dev")
			// A built-in provider has no version.
			exported := sluice(shop, "stack", "export", "--stack", "dev")
			versioned := strings.Replace(exported, `"directory": "cloud"`, `"directory": "cloud", "version": "5.1.0"`, 1)
			require.NotEqual(t, exported, versioned)
			require.NoError(t, os.WriteFile(filepath.Join(shop, "export.json"), []byte(versioned), 0o600))
			sluice(shop, "stack", "import", "--file", "export.json", "--stack", "dev")
			sluice(shop, "stack", "init", "empty")
			sluice(reader, "stack", "init", "live")
			sluice(reader, "up", "--yes", "--skip-preview", "--stack", "live")
			run(shop, place.backend, "PULUMI_DIY_BACKEND_GZIP=1", "stack", "init", "packed")
			run(shop, place.backend, "PULUMI_DIY_BACKEND_GZIP=1", "up", "--yes", "--skip-preview", "--stack", "packed")
			_, err := db.Exec(ctx, `INSERT INTO `+place.table+` (key, data) VALUES ('.pulumi/stacks/shop/torn.json', '{"data":"e30"}'), ('.pulumi/stacks/shop/other.json', '{"data":"W10="}')`)
			require.NoError(t, err)
			statements := sluice(shop, "query", "--sql-views")
			for range 2 { // the second time, the views are there
				_, err = db.Exec(ctx, statements)
				require.NoError(t, err)
			}
			rows := func(query string, args ...any) string {
				t.Helper()
				var text string
				require.NoError(t, db.QueryRow(ctx, `SELECT coalesce(json_agg(r), '[]')::text FROM (`+query+`) AS r`, args...).Scan(&text))
				return text
			}
			require.JSONEq(t, `[
				{"project": "reader", "stack": "live", "readable": true, "resources": 3, "secrets_provider": "passphrase"},
				{"project": "shop", "stack": "dev", "readable": true, "resources": 5, "secrets_provider": "passphrase"},
				{"project": "shop", "stack": "empty", "readable": true, "resources": 0, "secrets_provider": "passphrase"},
				{"project": "shop", "stack": "other", "readable": false, "resources": null, "secrets_provider": null},
				{"project": "shop", "stack": "packed", "readable": false, "resources": null, "secrets_provider": null},
				{"project": "shop", "stack": "torn", "readable": false, "resources": null, "secrets_provider": null}
			]`, rows(`SELECT project, stack, readable, resources, secrets_provider FROM `+place.prefix+`stacks WHERE modified > now() - interval '1 hour' ORDER BY 1, 2`))

			// The same resources with the same values as for `sluice query`, except for secrets and the properties that are internal to SDKs.
			var fromSQL, fromQuery []map[string]any
			require.NoError(t, json.Unmarshal([]byte(rows(`SELECT project, stack, urn, type, name, id, parent, provider, provider_package AS "providerPackage",
				provider_version AS "providerVersion", custom, external, protect, retain_on_delete AS "retainOnDelete", pending_delete AS "pendingDelete",
				dependencies, inputs - '__internal' AS inputs, outputs FROM `+place.prefix+`resources WHERE stack = 'dev' AND name <> 'pet'`)), &fromSQL))
			require.NoError(t, json.Unmarshal([]byte(sluice(shop, "query", "name != 'pet'", "--json", "--stack", "dev")), &fromQuery))
			for _, r := range fromQuery {
				delete(r, "created")
				delete(r, "modified")
				delete(r, "organization")
				if r["name"] == "bucket" {
					text, err := json.Marshal(r)
					require.NoError(t, err)
					require.Contains(t, string(text), `a\u0000b`) // which PostgreSQL cannot store
					for _, properties := range []any{r["inputs"], r["outputs"]} {
						properties.(map[string]any)["properties"].(map[string]any)["strange"] = "a\ufffdb"
					}
				}
			}
			require.ElementsMatch(t, fromQuery, fromSQL)
			require.JSONEq(t, `[{"name": "bucket", "made": true, "changed": true}]`, rows(`SELECT name, created > now() - interval '1 hour' AS made,
				modified > now() - interval '1 hour' AS changed FROM `+place.prefix+`resources WHERE outputs #>> '{properties,acl}' = 'public-read'`))

			// Secrets stay encrypted.
			require.NotContains(t, rows(`SELECT inputs, outputs FROM `+place.prefix+`resources WHERE name = 'pet'`), "hidden")
			require.JSONEq(t, `[{"sealed": true}]`, rows(`SELECT inputs #>> '{prefix,ciphertext}' LIKE 'v1:%' AS sealed FROM `+place.prefix+`resources WHERE name = 'pet'`))

			require.JSONEq(t, `[{"project": "shop", "stack": "dev", "name": "cloud", "configuration": {"directory": "cloud", "version": "5.1.0"}}]`,
				rows(`SELECT project, stack, name, configuration FROM `+place.prefix+`providers WHERE package = 'sim' AND version LIKE '5.%'`))
			require.JSONEq(t, `[{"project": "reader", "stack": "live", "name": "shop", "vpc": "net-1"}]`,
				rows(`SELECT project, stack, name, outputs ->> 'vpc' AS vpc FROM `+place.prefix+`stack_references WHERE referenced = 'organization/shop/dev' AND outputs ? 'vpc'`))

			for _, view := range []string{"stacks", "resources", "providers", "stack_references"} {
				_, err := db.Exec(ctx, `DELETE FROM `+place.prefix+view)
				require.ErrorContains(t, err, "cannot delete from view")
			}
			sluice(shop, "destroy", "--yes", "--stack", "empty") // operations go on beside the views
		})
	}
}
