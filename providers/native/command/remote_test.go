//go:build unix

package command_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/command"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/urn"
)

func remoteStack(t *testing.T, typ urn.Type) (*nativetest.Stack, *log, string) {
	l := &log{}
	o := native.Options{Directory: t.TempDir(), Log: l.add, LookupEnv: func(string) (string, bool) { return "", false }}
	return nativetest.New(t, command.Package(o), typ, o), l, o.Directory
}

func TestRemoteCommandsRunWhenTheResourceIsMadeChangedAndDeleted(t *testing.T) {
	sshd := serve(t)
	s, l, _ := remoteStack(t, "command:remote:Command")
	in := props("connection", sshd.withPassword(), "create", "echo made; echo oops >&2; echo create >> log",
		"update", `echo "$PULUMI_COMMAND_STDOUT+$X"; echo update >> log`, "delete", `echo "delete $PULUMI_COMMAND_STDOUT" >> log`,
		"environment", props("X", "1"))
	require.True(t, s.Preview(in).At("stdout").IsUnknown())
	require.NoFileExists(t, filepath.Join(sshd.dir, "log"))

	out := s.Create(in)
	require.Regexp(t, `^r[0-9a-f]{8}$`, s.ID)
	require.Equal(t, "made", out.At("stdout").AsString()) // the connection is secret, but makes nothing else secret
	require.Equal(t, "oops", out.At("stderr").AsString())
	require.ElementsMatch(t, []string{"made", "oops"}, l.lines)
	require.True(t, out.At("connection").IsSecret() && s.Inputs.At("connection").IsSecret())
	for _, recorded := range []property.Map{s.Inputs, out} {
		require.Equal(t, "root", recorded.At("connection").StripSecrets().AsMap().At("user").AsString())
	}
	s.RequireSame(in)
	s.RequireUnchanged()

	in = in.With("environment", property.Of(props("X", "2")))
	require.True(t, s.PreviewUpdate(in).At("stdout").IsUnknown())
	require.Equal(t, "made+2", s.Update(in).At("stdout").AsString())
	s.RequireReplace(in.With("triggers", property.ArrayOf(property.Number(1))), "triggers")
	require.NoError(t, s.Delete())
	text, err := os.ReadFile(filepath.Join(sshd.dir, "log"))
	require.NoError(t, err)
	require.Equal(t, "create\nupdate\ndelete made+2\n", string(text))
	require.ErrorContains(t, s.TryImport("x"), "cannot be imported")
}

func TestRemoteCommandReadsItsInputAndIsAsSecretAsThat(t *testing.T) {
	sshd := serve(t)
	s, _, _ := remoteStack(t, "command:remote:Command")
	out := s.Create(props("connection", sshd.withPassword(), "create", "cat", "stdin", property.Secret(property.String("s3cret"))))
	require.True(t, out.At("stdout").IsSecret())
	require.Equal(t, "s3cret", out.At("stdout").StripSecrets().AsString())
}

func TestRemoteCommandThatFailsSaysWhatItWrote(t *testing.T) {
	sshd := serve(t)
	s, l, _ := remoteStack(t, "command:remote:Command")
	err := s.TryCreate(props("connection", sshd.withPassword(), "create", "echo hello; exit 3"))
	require.ErrorContains(t, err, "status 3")
	require.ErrorContains(t, err, "hello\n")
	require.Empty(t, s.ID)

	sshd.refuses("X", "PULUMI_COMMAND_STDOUT")
	err = s.TryCreate(props("connection", sshd.withPassword(), "create", "true", "environment", props("X", "1")))
	require.ErrorContains(t, err, "AcceptEnv")
	s.Create(props("connection", sshd.withPassword(), "create", "echo a", "logging", "none"))
	l.lines = nil
	s.Update(props("connection", sshd.withPassword(), "create", "echo b", "logging", "none"))
	require.Len(t, l.lines, 1)
	require.Contains(t, l.lines[0], "PULUMI_COMMAND_STDOUT")
}

func TestKeysAndAgentsProveWhoConnects(t *testing.T) {
	key, text := newKey(t, "")
	locked, lockedText := newKey(t, "open sesame")
	inAgent, agentText := newKey(t, "")
	sshd := serve(t, key.PublicKey(), locked.PublicKey(), inAgent.PublicKey())
	socket := serveAgent(t, agentText)
	other, otherText := newKey(t, "")
	require.NotEqual(t, key, other)
	for name, pairs := range map[string][]any{
		"key":                           {"privateKey", text},
		"locked key":                    {"privateKey", lockedText, "privateKeyPassword", "open sesame"},
		"agent":                         {"agentSocketPath", socket},
		"agent after a key":             {"privateKey", otherText, "agentSocketPath", socket},
		"password after a key":          {"privateKey", otherText, "password", password},
		"key, and the right host":       {"privateKey", text, "hostKey", string(ssh.MarshalAuthorizedKey(sshd.hostKey))},
		"key, and any time to connect":  {"privateKey", text, "perDialTimeout", 0},
		"key, and some time to connect": {"privateKey", text, "perDialTimeout", 5},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := remoteStack(t, "command:remote:Command")
			s.Create(props("connection", sshd.connection(pairs...), "create", "true"))
		})
	}
	for name, c := range map[string]struct {
		want  string
		pairs []any
	}{
		"wrong password":         {"unable to authenticate", []any{"password", "x"}},
		"wrong key":              {"unable to authenticate", []any{"privateKey", otherText}},
		"no key":                 {"privateKey", []any{"privateKey", "x"}},
		"key without its words":  {"privateKey", []any{"privateKey", lockedText}},
		"no agent":               {"agentSocketPath", []any{"agentSocketPath", filepath.Join(t.TempDir(), "none")}},
		"another host":           {"host key mismatch", []any{"password", password, "hostKey", string(ssh.MarshalAuthorizedKey(other.PublicKey()))}},
		"no key of a host":       {"hostKey", []any{"password", password, "hostKey", "x"}},
		"another user than root": {"unable to authenticate", []any{"password", password, "user", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := remoteStack(t, "command:remote:Command")
			require.ErrorContains(t, s.TryCreate(props("connection", sshd.connection(c.pairs...), "create", "true")), c.want)
		})
	}
}

// serveAgent starts an SSH agent with one key and returns its socket.
func serveAgent(t *testing.T, key string) string {
	keys := agent.NewKeyring()
	parsed, err := ssh.ParseRawPrivateKey([]byte(key))
	require.NoError(t, err)
	require.NoError(t, keys.Add(agent.AddedKey{PrivateKey: parsed}))
	dir, err := os.MkdirTemp("", "agent") // the paths of sockets must be short
	require.NoError(t, err)
	path := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", path)
	require.NoError(t, err)
	wg := conc.NewWaitGroup()
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { _ = agent.ServeAgent(keys, conn); _ = conn.Close() })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		wg.Wait()
		require.NoError(t, os.RemoveAll(dir))
	})
	return path
}

func TestAgentOfTheEnvironmentIsUsedIfItIsThere(t *testing.T) {
	key, text := newKey(t, "")
	sshd := serve(t, key.PublicKey())
	socket := serveAgent(t, text)
	create := func(path string, pairs ...any) error {
		o := native.Options{LookupEnv: func(name string) (string, bool) { return path, name == "SSH_AUTH_SOCK" }}
		s := nativetest.New(t, command.Package(o), "command:remote:Command", o)
		return s.TryCreate(props("connection", sshd.connection(pairs...), "create", "true"))
	}
	require.NoError(t, create(socket))
	require.NoError(t, create("/nowhere", "password", password))
	require.ErrorContains(t, create("/nowhere"), "unable to authenticate")
}

func TestConnectingIsTriedAgain(t *testing.T) {
	sshd := serve(t)
	sshd.drop(2)
	s, l, _ := remoteStack(t, "command:remote:Command")
	require.ErrorContains(t, s.TryCreate(props("connection", sshd.connection("password", password, "dialErrorLimit", 1), "create", "true")),
		"after 2 failed attempts")
	sshd.drop(2)
	s.Create(props("connection", sshd.connection("password", password, "dialErrorLimit", -1), "create", "true"))
	seen, _ := sshd.count()
	require.Equal(t, 3, seen)
	require.Contains(t, l.lines[len(l.lines)-1], "attempt 2 failed")
}

func TestConnectionGoesThroughAProxy(t *testing.T) {
	sshd, between := serve(t), serve(t)
	s, _, _ := remoteStack(t, "command:remote:Command")
	connection := sshd.connection("password", password, "proxy", between.withPassword())
	out := s.Create(props("connection", connection, "create", "pwd"))
	require.Equal(t, sshd.dir, out.At("stdout").AsString())
	_, forwards := between.count()
	require.Equal(t, 1, forwards)

	connection = sshd.connection("password", password, "proxy", between.connection("password", "wrong"))
	require.ErrorContains(t, s.TryCreate(props("connection", connection, "create", "pwd")), "proxy: ")
}

func TestCancelEndsTheRemoteCommand(t *testing.T) {
	sshd := serve(t)
	s, _, _ := remoteStack(t, "command:remote:Command")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var err error
	var wg conc.WaitGroup
	wg.Go(func() {
		_, err = s.P.Create(ctx, providers.CreateRequest{
			URN: s.URN(), Name: "r", Type: s.Type,
			Properties: props("connection", sshd.withPassword(), "create", "touch runs; exec sleep 10000"),
		})
	})
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(sshd.dir, "runs"))
		return err == nil
	}, 5*time.Minute, 5*time.Millisecond)
	cancel()
	wg.Wait()
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, sshd.ended())

	_, err = s.P.Create(ctx, providers.CreateRequest{
		URN: s.URN(), Name: "r", Type: s.Type, Properties: props("connection", sshd.connection("dialErrorLimit", -1), "create", "true"),
	})
	require.ErrorIs(t, err, context.Canceled)
}
