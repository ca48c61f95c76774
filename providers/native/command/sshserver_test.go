//go:build unix

package command_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/pkg/sftp"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/sluice-iac/sluice/property"
)

// server is an SSH server in this process, on the loopback interface. It runs commands with the shell, serves files of a
// folder and forwards connections.
type server struct {
	t       *testing.T
	dir     string
	config  *ssh.ServerConfig
	hostKey ssh.PublicKey
	port    int

	wg conc.WaitGroup

	mu       sync.Mutex      // guards the fields below
	refused  map[string]bool // environment variables that it refuses
	failures int             // how many connections to drop before the first is served
	seen     int             // connections that came
	forwards int             // connections that were forwarded
	killed   int             // commands that the client had killed
	open     []io.Closer
}

const password = "hunter2"

// serve starts a server that accepts the user root with the password or a key.
func serve(t *testing.T, keys ...ssh.PublicKey) *server {
	s := &server{t: t, dir: t.TempDir(), refused: map[string]bool{}}
	s.config = &ssh.ServerConfig{
		PasswordCallback: func(c ssh.ConnMetadata, p []byte) (*ssh.Permissions, error) {
			if c.User() == "root" && string(p) == password {
				return nil, nil
			}
			return nil, errors.New("no")
		},
		PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			for _, k := range keys {
				if c.User() == "root" && string(k.Marshal()) == string(key.Marshal()) {
					return nil, nil
				}
			}
			return nil, errors.New("no")
		},
	}
	host, _ := newKey(t, "")
	s.hostKey = host.PublicKey()
	s.config.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.port = listener.Addr().(*net.TCPAddr).Port
	s.wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.connected(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		s.mu.Lock()
		for _, c := range s.open {
			_ = c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

// newKey makes a key and its text, with a passphrase if there is one.
func newKey(t *testing.T, passphrase string) (ssh.Signer, string) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(key, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	}
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(key)
	require.NoError(t, err)
	return signer, string(pem.EncodeToMemory(block))
}

// connection returns the input for a connection to the server, with more pairs.
func (s *server) connection(pairs ...any) property.Value {
	return property.Of(props(append([]any{"host", "127.0.0.1", "port", s.port, "dialErrorLimit", 0}, pairs...)...))
}

func (s *server) withPassword() property.Value { return s.connection("password", password) }

func (s *server) count() (seen, forwards int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen, s.forwards
}

// drop makes the server drop the next n connections, and resets its counters.
func (s *server) drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen, s.failures = 0, n
}

// ended returns how many commands the client had killed.
func (s *server) ended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.killed
}

func (s *server) refuses(variables ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range variables {
		s.refused[name] = true
	}
}

func (s *server) connected(conn net.Conn) {
	s.mu.Lock()
	s.seen++
	drop := s.seen <= s.failures
	s.open = append(s.open, conn)
	s.mu.Unlock()
	if drop {
		_ = conn.Close()
		return
	}
	made, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return // the test checks the client's error
	}
	defer made.Close()
	s.wg.Go(func() { ssh.DiscardRequests(requests) })
	for c := range channels {
		switch c.ChannelType() {
		case "session":
			channel, requests, err := c.Accept()
			if err == nil {
				s.wg.Go(func() { s.session(channel, requests) })
			}
		case "direct-tcpip":
			s.wg.Go(func() { s.forward(c) })
		default:
			_ = c.Reject(ssh.UnknownChannelType, "")
		}
	}
}

func (s *server) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()
	var env []string
	for r := range requests {
		var text struct{ A, B string }
		switch r.Type {
		case "env":
			_ = ssh.Unmarshal(r.Payload, &text)
			s.mu.Lock()
			refused := s.refused[text.A]
			s.mu.Unlock()
			_ = r.Reply(!refused, nil)
			env = append(env, text.A+"="+text.B)
		case "exec":
			var command struct{ Text string }
			_ = ssh.Unmarshal(r.Payload, &command)
			_ = r.Reply(true, nil)
			s.execute(channel, requests, command.Text, env)
			return
		case "subsystem":
			_ = r.Reply(true, nil)
			files, err := sftp.NewServer(channel, sftp.WithServerWorkingDirectory(s.dir))
			if err == nil {
				_ = files.Serve()
			}
			return
		default:
			_ = r.Reply(false, nil)
		}
	}
}

// execute runs a command, and kills it when the client sends a signal.
func (s *server) execute(channel ssh.Channel, requests <-chan *ssh.Request, command string, env []string) {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = s.dir, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = channel, channel, channel.Stderr()
	if err := cmd.Start(); err != nil {
		return
	}
	s.wg.Go(func() {
		for r := range requests {
			if r.Type == "signal" {
				s.mu.Lock()
				s.killed++
				s.mu.Unlock()
				_ = cmd.Process.Kill()
			}
		}
	})
	_ = cmd.Wait()
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ N uint32 }{uint32(cmd.ProcessState.ExitCode())}))
}

func (s *server) forward(c ssh.NewChannel) {
	var to struct {
		Host     string
		Port     uint32
		From     string
		FromPort uint32
	}
	if err := ssh.Unmarshal(c.ExtraData(), &to); err != nil {
		_ = c.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	conn, err := net.Dial("tcp", net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))))
	if err != nil {
		_ = c.Reject(ssh.ConnectionFailed, fmt.Sprint(err))
		return
	}
	s.mu.Lock()
	s.forwards++
	s.open = append(s.open, conn)
	s.mu.Unlock()
	channel, requests, err := c.Accept()
	if err != nil {
		return
	}
	s.wg.Go(func() { ssh.DiscardRequests(requests) })
	s.wg.Go(func() { _, _ = io.Copy(conn, channel); _ = conn.Close() })
	_, _ = io.Copy(channel, conn)
	_ = channel.Close()
}
