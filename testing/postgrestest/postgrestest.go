// Package postgrestest starts PostgreSQL servers for tests.
package postgrestest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluice-iac/sluice/testing/tier"
)

// Start starts a server with an empty cluster on a Unix socket, and returns the URL of a database in it. The server runs
// until the end of the test. If PostgreSQL is not installed, the test is skipped. In continuous integration, where the
// variable CI is set, it fails.
func Start(t *testing.T) string {
	t.Helper()
	tier.Slow(t, "PostgreSQL")
	initdb, err := find("initdb")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	control, err := find("pg_ctl")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket has at most 100 characters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	run, err := unprivileged(dir)
	if err != nil {
		t.Fatal(err)
	}
	must := func(name string, arguments ...string) {
		t.Helper()
		cmd := run(name, arguments...)
		cmd.Dir = dir
		log, err := os.Create(filepath.Join(dir, "log.txt")) // a pipe would stay open for as long as the server runs
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout, cmd.Stderr = log, log
		err = errors.Join(cmd.Run(), log.Close())
		if err != nil {
			said, _ := os.ReadFile(log.Name())
			t.Fatalf("%s: %v\n%s", name, err, said)
		}
	}
	data := filepath.Join(dir, "data")
	must(initdb, "-D", data, "-U", "sluice", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	must(control, "-D", data, "-w", "-l", filepath.Join(dir, "server.txt"),
		"-o", fmt.Sprintf("-k %s -c listen_addresses= -c fsync=off -c max_connections=200", dir), "start")
	t.Cleanup(func() { must(control, "-D", data, "-w", "-m", "immediate", "stop") })
	return "postgres://sluice@/postgres?host=" + dir
}

// find looks for a program on PATH and in Debian's folder of server programs.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program) // the pattern is well formed
	if len(found) == 0 {
		return "", fmt.Errorf("this test needs PostgreSQL, but there is no %s: install the package postgresql", program)
	}
	slices.Sort(found)
	return found[len(found)-1], nil
}
