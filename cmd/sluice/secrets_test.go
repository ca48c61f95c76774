//go:build !windows

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// hard is a secret that every encoding changes, and pem one of several lines.
const (
	hard = `p&ss "wörd" <7>/+~$x'y`
	pem  = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n" +
		"MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu\n-----END PRIVATE KEY-----\n"
	phrase = "an ephemeral passphrase"
)

// leaks is a project whose commands must not show its secrets.
type leaks struct {
	*testing.T
	dir, sluice string
	env         []string
	written     bytes.Buffer // the output of all commands, with their event logs
}

// newLeaks makes a project with a stack. files are the files of the project by their names.
func newLeaks(t *testing.T, files map[string]string) *leaks {
	l := &leaks{T: t, dir: t.TempDir()}
	tools := filepath.Join(l.dir, "tools")
	build(t, tools+"/pulumi-resource-simple", "../../providers/internal/pulumi-resource-simple")
	linkSluice(t, tools+"/sluice")
	l.sluice = tools + "/sluice"
	l.env = append(os.Environ(),
		"PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "PULUMI_HOME="+l.dir+"/home", "PULUMI_BACKEND_URL=file://"+l.dir+"/backend",
		"PULUMI_CONFIG_PASSPHRASE="+phrase, "PULUMI_STACK=", "HOME="+l.dir, "PULUMI_DEBUG_COMMANDS=true")
	require.NoError(t, os.MkdirAll(l.dir+"/backend", 0o755))
	require.NoError(t, os.MkdirAll(l.dir+"/project", 0o755))
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(l.dir, "project", name), []byte(text), 0o644))
	}
	l.run(0, "", "stack", "init", "dev")
	l.run(0, hard, "config", "set", "--secret", "password", "--raw")
	l.run(0, pem, "config", "set", "--secret", "key", "--raw")
	return l
}

// run runs a command, requires its exit status, and returns its output.
func (l *leaks) run(status int, input string, args ...string) string {
	l.Helper()
	cmd := exec.Command(l.sluice, append(args, "--non-interactive")...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.dir+"/project", l.env, strings.NewReader(input), &out, &out
	_ = cmd.Run() // the exit status is checked below
	l.written.Write(out.Bytes())
	require.Equal(l, status, cmd.ProcessState.ExitCode(), "%v\n%s", args, out.String())
	return out.String()
}

// fail runs an update that fails, with each kind of display, and returns the outputs.
func (l *leaks) fail() string {
	l.Helper()
	all := l.run(1, "", "up", "--yes", "--skip-preview", "--event-log", l.dir+"/events.json", "--debug")
	events, err := os.ReadFile(l.dir + "/events.json")
	require.NoError(l, err)
	l.written.Write(events)
	all += l.run(1, "", "up", "--yes", "--skip-preview", "--json")
	l.run(0, "", "stack", "history", "--json")
	return all + string(events)
}

// conceal requires that no output contains a form of a secret.
func (l *leaks) conceal(secrets ...string) {
	l.Helper()
	for _, secret := range append(secrets, phrase) {
		for name, form := range formsOf(l, secret) {
			at := bytes.Index(l.written.Bytes(), []byte(form))
			require.Negative(l, at, "%s: %q is in %q", name, form, l.written.Bytes()[max(0, at-200):min(l.written.Len(), max(0, at)+200)])
		}
	}
}

func formsOf(t require.TestingT, secret string) map[string]string {
	html, err := json.Marshal(secret)
	require.NoError(t, err)
	forms := map[string]string{
		"plain": secret, "HTML": string(html[1 : len(html)-1]), "Go": strings.Trim(fmt.Sprintf("%q", secret), `"`),
		"query": url.QueryEscape(secret), "path": url.PathEscape(secret), "hex": hex.EncodeToString([]byte(secret)),
		"in a document": base64.StdEncoding.EncodeToString([]byte(secret))[:len(secret)],
	}
	for i, line := range strings.Split(secret, "\n") {
		if line != "" && !strings.HasPrefix(line, "-----") {
			forms[fmt.Sprintf("line %d", i)] = line
		}
	}
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte("xxx"[:before] + secret))
		inner := text[(8*before+5)/6 : 8*(before+len(secret))/6]
		forms[fmt.Sprintf("base64 at %d", before)] = inner
		forms[fmt.Sprintf("URL base64 at %d", before)] = strings.NewReplacer("+", "-", "/", "_").Replace(inner)
	}
	return forms
}

const failingCommand = `name: shop
runtime: yaml
config:
  password: {type: string}
  key: {type: string}
resources:
  shout:
    type: command:local:Command
    properties:
      logging: stdoutAndStderr
      environment: {PASSWORD: "${password}", KEY: "${key}"}
      create: |
        printf 'stdout has %s\n' "$PASSWORD"; printf 'stderr has %s\n' "$PASSWORD" >&2
        printf 'user:%s@host' "$PASSWORD" | base64 -w0; echo; printf '%s' "$PASSWORD" | base64 | tr '+/' '-_' >&2
        printf '%s' "$PASSWORD" | od -An -v -tx1 | tr -d ' \n'; echo
        printf '%s\n' "$KEY"; printf '%s' "$KEY" | base64
        printf '%s\n' "$PULUMI_CONFIG_PASSPHRASE"
        printf '%s' "$KEY" | tr '\n' '~'; exit 3
`

func TestACommandThatFailsShowsNoSecret(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": failingCommand})
	shown := l.fail()
	require.Contains(t, shown, "stdout has [secret]")
	require.Contains(t, shown, "stderr has [secret]")
	l.conceal(hard, pem)
}

const generated = `name: shop
runtime: yaml
resources:
  made:
    type: random:RandomPassword
    properties: {length: 24}
  shout:
    type: command:local:Command
    properties:
      logging: stdoutAndStderr
      environment: {MADE: "${made.result}"}
      create: |
        printf 'it is %s\n' "$MADE"; printf 'x%s' "$MADE" | base64 -w0; exit 3
  plain:
    type: command:local:Command
    properties:
      create: cat "${file}" && exit 3
    options: {dependsOn: ["${shout}"]}
variables:
  file: /dev/null
`

func TestAPasswordThatTheRunGeneratesIsNotShown(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": generated})
	shown := l.fail()
	require.Contains(t, shown, "it is [secret]")
	state := l.dir + "/state.json"
	exported := exec.Command(l.sluice, "stack", "export", "--show-secrets", "--file", state)
	exported.Dir, exported.Env = l.dir+"/project", l.env
	require.NoError(t, exported.Run())
	text, err := os.ReadFile(state)
	require.NoError(t, err)
	found := regexp.MustCompile(`"result": \{[^}]*"plaintext": "(.*)"`).FindSubmatch(text)
	require.NotNil(t, found, "%s", text)
	var password string // JSON within JSON
	require.NoError(t, json.Unmarshal([]byte(`"`+string(found[1])+`"`), &password))
	require.NoError(t, json.Unmarshal([]byte(password), &password))
	require.Len(t, password, 24)
	l.conceal(password)
}

func TestAProgramThatPrintsSecretsShowsNone(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{
		"Pulumi.yaml":  "name: shop\nruntime: nodejs\n",
		"package.json": `{"name": "shop"}`,
		"index.js": `
const pulumi = require("@pulumi/pulumi");
const config = new pulumi.Config();
const password = config.require("password"), key = config.require("key");
const text = Buffer.from("user:" + password).toString("base64");
process.stdout.write("in base64: " + text.slice(0, 9));
setTimeout(() => {
  process.stdout.write(text.slice(9) + "\n" + JSON.stringify({ password, key, deep: JSON.stringify({ password }) }) + "\n");
  console.log("https://u:" + encodeURIComponent(password) + "@host");
  console.error(key);
  pulumi.log.warn("logged " + password);
  new pulumi.CustomResource("simple:index:Thing", "one", { text: pulumi.secret("made in the program") }).id.apply(() => {
    console.log("made in the program");
    throw new Error("cannot use " + password + " and " + Buffer.from(key).toString("base64url"));
  });
}, 50);
`,
	})
	tier.Slow(t, "Node.js")
	modules, err := filepath.Abs("../../source/nodejs/testdata/program")
	require.NoError(t, err)
	require.NoError(t, nodesdk.Install(modules))
	require.NoError(t, os.Symlink(modules+"/node_modules", l.dir+"/project/node_modules"))
	shown := l.fail()
	require.Contains(t, shown, "in base64: ")
	require.Contains(t, shown, "logged [secret]")
	require.Contains(t, shown, "cannot use [secret] and [secret]")
	l.conceal(hard, pem, "made in the program")
}

const failingPlugin = `name: shop
runtime: yaml
config:
  password: {type: string}
  key: {type: string}
resources:
  thing:
    type: simple:index:Thing
    properties: {password: "${password}", keys: {deep: ["${key}", {fn::secret: 123456.5}]}}
outputs:
  thing: ${thing.id}
`

func TestAPluginThatFailsWithItsInputsShowsNoSecret(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": failingPlugin})
	l.run(0, "", "config", "set", "simple:directory", l.dir+"/cloud")
	l.run(0, "", "config", "set", "simple:tellOn", "create thing")
	require.Contains(t, l.fail(), "the cloud does not like map[keys:map[deep:[")
	l.conceal(hard, pem, "123456.5")

	// An operation without other sources masks the secrets of the state.
	l.run(0, "", "config", "set", "simple:tellOn", "delete thing")
	l.run(0, "", "up", "--yes", "--skip-preview")
	l.run(0, "", "config", "rm", "password")
	l.run(0, "", "config", "rm", "key")
	require.Contains(t, l.run(1, "", "destroy", "--yes", "--skip-preview"), "the cloud does not like map[keys:map[deep:[")
	l.conceal(hard, pem, "123456.5")
}

func TestWhoAsksForSecretsSeesThem(t *testing.T) {
	t.Parallel()
	l := newLeaks(t, map[string]string{"Pulumi.yaml": failingCommand})
	require.Contains(t, l.run(1, "", "up", "--yes", "--skip-preview", "--show-secrets"), "stdout has "+hard)
	require.Contains(t, l.run(0, "", "config", "get", "password"), hard)
}
