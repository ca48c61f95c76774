// Command pulumi-resource-simple is a provider plugin for tests and benchmarks: the package "simple", whose resources
// ("simple:index:Thing", or any other type of the package) live in a simulated cloud with the rules of package
// providertest. A program needs no SDK for it; it registers resources by their types.
//
// The configuration of the provider defines the behaviour of the cloud (all optional, numbers may be strings):
//
//	directory      where the cloud is kept, to be found again by later processes; without it the cloud ends with the process
//	delayMs        how long each call takes; minDelayMs makes it a range from which each call draws with seed
//	lateMs         a call under way when the engine goes away has its effect after at most this time; otherwise it has none
//	crashOn        "<method>" or "<method> <name>": the process ends in the middle of that call, with nothing done
//	crashAfter     the same, with the work done
//	failOn         the same form: the call returns an error with code FailedPrecondition
//	uncertainOn    the same form: the call returns an error with code Internal
//	waitOn         the same form: the call begins when the file waitFor exists
//	tellOn         the same form for "create", "update" and "delete": the inputs are in the error and on stderr, as JSON and in base64
//	hangOn         the same form: the call returns only when the provider is cancelled; "<method> <name> hangs" is on stderr when it has begun
//	malformed      the kind of wrong answers to Create: "empty-id", "unknown-id", "bad-signature", "unknown"; "not-text" cannot be
//	               encoded, "too-deep" is nested too deeply; "partial" and "partial-unknown-id" are errors of objects that are not
//	               healthy, without an ID and with an unknown one. "unknown-config" is a wrong answer to CheckConfig
//	throttleAt     "<method> <n>": more than n calls of the method at once return an error with code ResourceExhausted
//	hugeBytes      adds an output "huge" of that many bytes
//	missingKeys    "true": Configure reports a missing setting "simple:token"
//
// The behaviour of the process itself is set in its environment: SIMPLE_PORT_LINE is written instead of the port, SIMPLE_EXIT ends
// the process at its start with that text on stderr, SIMPLE_LEGACY leaves out Handshake, SIMPLE_FEATURES lists features to take away
// ("secrets,references,preview"), SIMPLE_STUBBORN ignores interrupts and never answers Cancel. SIMPLE_STARTS is a file to which each
// start adds a line. SIMPLE_SCHEMA is a file with the schema; without it the schema has the package's name, and the parameters of a
// parameterized package. With SIMPLE_SESSION the server is a child in a session of its own, like a plugin that is a daemon: it
// outlives the process until the calls that it has begun are done.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/providers/internal/serve"
	"github.com/sluice-iac/sluice/providers/plugin"
	"google.golang.org/grpc"
)

// version is the version that the plugin reports.
const version = "1.0.0"

func main() {
	if text := os.Getenv("SIMPLE_EXIT"); text != "" {
		fmt.Fprintln(os.Stderr, text)
		os.Exit(3)
	}
	if err := countStart(os.Getenv("SIMPLE_STARTS")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	serve := run
	if os.Getenv(sessionVariable) != "" {
		serve = runInSession
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// countStart adds a line to a file, if there is one.
func countStart(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	return errors.Join(err, f.Close())
}

func run() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	stubborn := os.Getenv("SIMPLE_STUBBORN") != ""
	if stubborn {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(plugin.MaxMessageSize), grpc.MaxSendMsgSize(plugin.MaxMessageSize))
	pulumirpc.RegisterResourceProviderServer(server, newServer(stubborn))

	line := os.Getenv("SIMPLE_PORT_LINE")
	if line == "" {
		line = fmt.Sprint(listener.Addr().(*net.TCPAddr).Port)
	}
	fmt.Println(line)
	endWithParent(parent(), server)
	return server.Serve(listener)
}

// parentVariable holds the PID of the parent, in case the parent is gone before this process can look it up.
const parentVariable = "SIMPLE_PARENT"

func parent() int {
	if pid, err := strconv.Atoi(os.Getenv(parentVariable)); err == nil {
		return pid
	}
	return os.Getppid()
}

func newServer(stubborn bool) *server {
	take := os.Getenv("SIMPLE_FEATURES")
	s := &server{stubborn: stubborn, provider: newProvider()}
	s.Server = serve.Server{Provider: s.provider, Options: serve.Options{
		Legacy: os.Getenv("SIMPLE_LEGACY") != "", NoSecrets: strings.Contains(take, "secrets"),
		NoReferences: strings.Contains(take, "references"), NoPreview: strings.Contains(take, "preview"), Version: version,
	}}
	return s
}

// endWithParent ends the process when the engine has exited for any reason, because tests kill engines. The calls that have
// begun end before.
func endWithParent(parent int, server *grpc.Server) {
	if os.Getppid() != parent {
		time.AfterFunc(patience, func() { os.Exit(0) })
		server.GracefulStop()
		os.Exit(0)
	}
	time.AfterFunc(100*time.Millisecond, func() { endWithParent(parent, server) })
}

// patience is how long calls may take to end when the engine has exited.
const patience = 10 * time.Second
