// Package emulatortest starts emulators of object stores for tests: programs of others that speak the protocols of Google's
// and Azure's. They are installed, once for each version, into the user's cache, by the package managers of their languages, so that
// the module does not depend on them.
package emulatortest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The versions that are installed.
const (
	googleVersion = "v1.56.1"
	azureVersion  = "3.35.0"
)

// Google starts fake-gcs-server for clients that reach it under an address, which may be that of a proxy, and returns its own
// address.
func Google(t *testing.T, public string) string {
	t.Helper()
	program := installed(t, "fake-gcs-server-"+googleVersion, "fake-gcs-server", func(dir string) *exec.Cmd {
		cmd := exec.Command("go", "install", "github.com/fsouza/fake-gcs-server@"+googleVersion)
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
		return cmd
	})
	host, port := freePort(t)
	start(t, host+":"+port, program, "-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-public-host", public,
		"-external-url", "http://"+public, "-log-level", "warn")
	return host + ":" + port
}

// Azure starts Azurite and returns its address.
func Azure(t *testing.T) string {
	t.Helper()
	program := installed(t, "azurite-"+azureVersion, "node_modules/azurite/dist/src/blob/main.js", func(dir string) *exec.Cmd {
		return exec.Command("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--prefix", dir, "azurite@"+azureVersion)
	})
	host, port := freePort(t)
	start(t, host+":"+port, "node", program, "--blobHost", host, "--blobPort", port, "--inMemoryPersistence", "--disableTelemetry",
		"--skipApiVersionCheck", "--silent")
	return host + ":" + port
}

// installed returns a file of a program in the user's cache, and installs the program if it is not there. If that fails, the
// test is skipped; in continuous integration, where the variable CI is set, it fails.
func installed(t *testing.T, name, file string, install func(dir string) *exec.Cmd) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(cache, "sluice-tests")
	if runtime.GOOS == "windows" && filepath.Ext(file) == "" {
		file += ".exe"
	}
	program := filepath.Join(root, name, filepath.FromSlash(file))
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	// Packages are tested by several processes at once: each installs into a folder of its own, and the first one's counts.
	dir, err := os.MkdirTemp(root, name+".*.tmp")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if out, err := install(dir).CombinedOutput(); err != nil {
		problem := fmt.Sprintf("this test needs %s, which cannot be installed: %v\n%s", name, err, out)
		if os.Getenv("CI") != "" {
			t.Fatal(problem)
		}
		t.Skip(problem)
	}
	_ = os.Rename(dir, filepath.Join(root, name)) // unless another process was faster
	if _, err := os.Stat(program); err != nil {
		t.Fatal(err)
	}
	return program
}

func freePort(t *testing.T) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// start starts a server, which runs until the end of the test, and waits until it listens.
func start(t *testing.T, address, program string, arguments ...string) {
	t.Helper()
	said := &strings.Builder{}
	cmd := exec.Command(program, arguments...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("%s said:\n%s", program, said)
		}
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return
		}
	}
	t.Fatalf("%s does not listen at %s", program, address)
}
