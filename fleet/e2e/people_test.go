package e2e

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/server"
)

func TestDriftOfAFleetIsFoundAndChangesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, three())
	p.fleet("up", "--yes")
	before := p.objects("cloud")
	require.Contains(t, p.fleet("drift"), "web: 0 of 1 have moved")
	for id, text := range before {
		if strings.HasPrefix(id, "obj0-db") {
			require.NoError(t, os.WriteFile(p.path("../cloud/"+id+".json"), []byte(strings.ReplaceAll(text, `"size": 1`, `"size": 9`)), 0o600))
		}
	}
	moved := p.objects("cloud")
	out, status := p.run("sluice", "fleet", "drift", "--report", "../drift.md")
	require.Equal(t, 10, status, out)
	require.Contains(t, out, "db: 1 of 1 have moved")
	require.Contains(t, out, "net: 0 of 1 have moved")
	require.Equal(t, moved, p.objects("cloud"))
	require.Contains(t, p.fleet("logs", "db"), "properties.size: 1 → 9")
}

func TestWhoHasApprovedIsRecorded(t *testing.T) {
	t.Parallel()
	files := three()
	files["fleet.yaml"] = strings.Replace(files["fleet.yaml"], "db: {", "db: {approve: [up], ", 1)
	p := newPlace(t, files)
	up := p.begin("sluice-fleet", "up", "--yes", "--report", "../up.json")
	up.says(t, "approval   db: `sluice fleet approve db`")
	require.Contains(t, p.fleet("approve", "db", "--message", "looks good"), "approved up of db")
	require.NoError(t, up.Wait(), "%s", &up.text)
	require.Contains(t, up.text.String(), "approved by ")
	text, err := os.ReadFile(p.path("../up.json"))
	require.NoError(t, err)
	require.Contains(t, string(text), `"message": "looks good"`)
	require.Contains(t, p.fleet("status"), "succeeded  db: ")
}

// Another program approves over the HTTP API of the server, as in the manual.
func TestAnApprovalComesOverTheAPI(t *testing.T) {
	t.Parallel()
	files := three()
	files["fleet.yaml"] = strings.Replace(files["fleet.yaml"], "net: {", "net: {approve: [up], ", 1)
	p := newPlace(t, files)
	up := p.begin("sluice-fleet", "up", "--yes", "--select", "net")
	var id string
	require.Eventually(t, func() bool {
		id = regexp.MustCompile(`shop/up/\w+`).FindString(p.fleet("history"))
		return id != ""
	}, longest, time.Second)
	sealed := func(text string) string {
		c := p.command(t.Context(), "sluice-fleet", "seal", "--run", id)
		c.Stdin = strings.NewReader(text)
		out, err := c.Output()
		require.NoError(t, err)
		require.NotContains(t, string(out), "granted")
		return string(out)
	}
	text, err := os.ReadFile(p.path(".sluice-fleet/server.json"))
	require.NoError(t, err)
	var where server.Place
	require.NoError(t, json.Unmarshal(text, &where))
	require.Regexp(t, `^127\.0\.0\.1:`, where.HTTP)
	known := x509.NewCertPool()
	require.True(t, known.AppendCertsFromPEM([]byte(where.Certificate)))
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known, MinVersion: tls.VersionTLS13}}}
	send := func(token, body string) int {
		to := "https://" + where.HTTP + "/api/v1/namespaces/sluice-fleet/batch-operations/" + rand.Text()
		text := fmt.Sprintf(`{"reason": "a test", "executions": [{"workflowId": %q}], "signalOperation": {"signal": "approve", "input": %s}}`, id, body)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(text))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		reply, err := web.Do(request)
		require.NoError(t, err)
		require.NoError(t, reply.Body.Close())
		return reply.StatusCode
	}
	require.Eventually(t, func() bool { return strings.Contains(p.fleet("status"), "approval   net") }, longest, time.Second)
	by := sealed(`{"stack": "net", "granted": true, "by": "ada of the portal", "message": "change 42"}`)
	require.Equal(t, http.StatusForbidden, send("guessed", by))
	require.Equal(t, http.StatusForbidden, send(where.Tokens[server.Worker], by), "a worker does not approve")
	require.Equal(t, http.StatusOK, send(where.Tokens[server.Approver], by))
	require.NoError(t, up.Wait(), "%s", &up.text)
	require.Contains(t, up.text.String(), "approved by ada of the portal")
}

func TestMetricsOfRunsAreSent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // guards got
	var got bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = got.ReadFrom(r.Body) // a missing part fails the test
	}))
	defer collector.Close()
	p := newPlace(t, three())
	p.env = append(p.env, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf")
	p.fleet("up", "--yes")
	mu.Lock()
	defer mu.Unlock()
	for _, name := range []string{"sluice_fleet_stacks", "sluice_fleet_stack_duration", "succeeded", "temporal_activity_execution_latency"} {
		require.Contains(t, got.String(), name)
	}
}

func TestTheKeyOfAFleetIsInItsFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, three())
	p.write(map[string]string{"fleet.yaml": three()["fleet.yaml"] + p.fleet("key", "--secrets-provider", "passphrase")})
	require.Contains(t, p.fleet("up", "--yes"), "3 succeeded")
	require.NoFileExists(t, p.path(".sluice-fleet/key"))
	require.Contains(t, p.fleet("status"), "succeeded  web")
	p.env = append(p.env, "SLUICE_CONFIG_PASSPHRASE=wrong")
	out, status := p.run("sluice", "fleet", "status")
	require.Equal(t, 2, status, out)
	require.Contains(t, out, "the key of the fleet in fleet.yaml")
}

// newNights returns a place with a nightly schedule and a worker.
func newNights(t *testing.T) *place {
	t.Helper()
	files := three()
	files["fleet.yaml"] += "schedules:\n  night: {operation: drift, cron: \"0 3 * * *\"}\n"
	p := newPlace(t, files)
	p.fleet("up", "--yes")
	t.Cleanup(p.startWorker().kill)
	require.Equal(t, "night: drift 0 3 * * *\n", p.fleet("schedule", "apply"))
	return p
}

// The server catches up on a night that has passed: a run begins as it would have at three.
func TestAScheduleBeginsItsRunAtItsTime(t *testing.T) {
	t.Parallel()
	p := newNights(t)
	night := time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)
	require.NoError(t, p.connect().ScheduleClient().GetHandle(t.Context(), "sluice/shop/night").Backfill(t.Context(), client.ScheduleBackfillOptions{
		Backfill: []client.ScheduleBackfill{{Start: night, End: night.Add(12 * time.Hour)}},
	}))
	require.Eventually(t, func() bool { return strings.Contains(p.fleet("history"), "-2026-03-14T03:00:00Z") }, longest, time.Second)
	require.Contains(t, p.fleet("status", "--follow"), "web: 0 of 1 have moved")
}

func TestASchedulesRunIsARunOfTheFleet(t *testing.T) {
	t.Parallel()
	p := newNights(t)
	// The server lists a schedule a moment after creating it.
	isListed := regexp.MustCompile(`night +\d{4}-\d\d-\d\d `)
	require.Eventually(t, func() bool { return isListed.MatchString(p.fleet("schedule", "ls")) }, longest, 100*time.Millisecond)
	p.fleet("schedule", "trigger", "night")
	require.Eventually(t, func() bool { return strings.Contains(p.fleet("history"), "shop/drift/") }, longest, time.Second)
	require.Contains(t, p.fleet("status", "--follow"), "web: 0 of 1 have moved")
	c := p.connect()
	require.Eventually(t, func() bool {
		query := "SluiceFleet = 'shop' AND SluiceOperation = 'drift' AND SluiceStack = 'web'"
		found, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Namespace: server.Namespace, Query: query})
		return err == nil && len(found.GetExecutions()) == 1
	}, longest, time.Second)
	p.write(map[string]string{"fleet.yaml": three()["fleet.yaml"]})
	require.Equal(t, "night: removed\n", p.fleet("schedule", "apply"))
}

// The data of the server contains no name of a resource and no output.
func TestWhatTheServerKeepsIsSealed(t *testing.T) {
	t.Parallel()
	files := three()
	files["net/Pulumi.yaml"] = strings.Replace(files["net/Pulumi.yaml"], "outputs:\n", "outputs:\n  open: an output that is not secret\n  password: {fn::secret: a-secret-output}\n", 1)
	p := newPlace(t, files)
	p.fleet("preview")
	p.fleet("up", "--yes")
	for _, name := range []string{"temporal.db", "temporal.db-wal", "worker.log", "server.log"} {
		text, err := os.ReadFile(p.path(".sluice-fleet/" + name))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		for _, secret := range []string{"a-secret-output", "an output that is not secret", "address-obj0"} {
			require.NotContains(t, string(text), secret, name)
		}
	}
}

func TestAStackComesFromARepository(t *testing.T) {
	t.Parallel()
	p := newPlace(t, three())
	p.git("init", "--quiet", "repository")
	p.write(map[string]string{"repository/infra/Pulumi.yaml": strings.ReplaceAll(program("dns", 1, "0s"), "${pulumi.cwd}/../../cloud", p.path("../cloud"))})
	p.git("-C", "repository", "add", ".")
	p.git("-C", "repository", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "Add a project")
	p.git("-C", "repository", "tag", "v1")
	p.write(map[string]string{"fleet.yaml": "name: shop\nstacks:\n  dns: {git: \"file://" + p.path("repository") + "\", ref: v1, directory: infra, stack: dev}\n"})
	require.Contains(t, p.fleet("up", "--yes"), "1 succeeded")
	require.Len(t, p.objects("cloud"), 1)
	require.Contains(t, p.fleet("up", "--yes"), "1 unchanged")
	p.write(map[string]string{"fleet.yaml": "name: shop\nstacks:\n  dns: {git: \"file://" + p.path("repository") + "\", ref: v2, directory: infra, stack: dev}\n"})
	out, status := p.run("sluice", "fleet", "up", "--yes")
	require.Equal(t, 1, status)
	require.Contains(t, out, "git fetch: ")
}

func TestALinkOutOfTheFleetIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t, three())
	require.NoError(t, os.Rename(p.path("net"), p.path("../elsewhere")))
	require.NoError(t, os.Symlink(p.path("../elsewhere"), p.path("net")))
	out, status := p.run("sluice", "fleet", "up", "--yes", "--select", "net")
	require.Equal(t, 1, status)
	require.Contains(t, out, "is a link that leaves that of the fleet")
	require.Empty(t, p.objects("cloud"))
}

// A run waits for a lock that another process holds.
func TestALockIsWaitedFor(t *testing.T) {
	t.Parallel()
	files := three()
	files["net/Pulumi.yaml"] = gated(program("net", 1, "0s"))
	p := newPlace(t, files)
	_, status := p.run("sluice", "-C", "net", "stack", "init", "--no-select", "dev")
	require.Equal(t, 0, status)
	somebody := p.begin("sluice", "-C", "net", "up", "--stack", "dev", "--yes", "--skip-preview")
	require.Eventually(t, func() bool { return begun(p) }, longest, 50*time.Millisecond)
	up := p.begin("sluice-fleet", "up", "--yes")
	up.says(t, "net: waits to try again")
	p.openGate()
	require.NoError(t, somebody.Wait(), "%s", &somebody.text)
	require.NoError(t, up.Wait(), "%s", &up.text)
	require.Contains(t, up.text.String(), "3 succeeded")
	require.Len(t, p.objects("cloud"), 3)
}
