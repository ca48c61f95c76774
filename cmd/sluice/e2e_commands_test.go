package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// waitFor implements "waitfor PATTERN": it waits until a file matches the pattern.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	isThere := func() bool { found, _ := filepath.Glob(ts.MkAbs(args[0])); return len(found) > 0 }
	if !until(nil, isThere) {
		ts.Fatalf("%s never appeared", args[0])
	}
}

// until waits for a condition, for five minutes at most, so that only a failure takes that long. It stops waiting when ended is closed. It reports
// whether the condition is met.
func until(ended <-chan struct{}, met func() bool) bool {
	for range 30_000 {
		if met() {
			return true
		}
		select {
		case <-ended:
			return met()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// nowhere implements "nowhere TEXT": the text is neither in the output of the last command nor in a file of the script, except in the files of the
// plugin "simple" in folders named cloud.
func nowhere(ts *testscript.TestScript, _ bool, args []string) {
	text := []byte(args[0])
	for _, stream := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(stream), args[0]) {
			ts.Fatalf("%s has %q:\n%s", stream, args[0], ts.ReadFile(stream))
		}
	}
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "cloud") {
			return filepath.SkipDir
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, text) {
			ts.Fatalf("%s has %q", path, args[0])
		}
		return err
	}))
}

// status implements "status N COMMAND...": the command ends with that exit status and without a stack trace.
func status(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	checkStatus(ts, args[0], err)
	for _, stream := range []string{"stdout", "stderr"} {
		if text := ts.ReadFile(stream); strings.Contains(text, "goroutine ") || strings.Contains(text, "internal fault") {
			ts.Fatalf("a stack trace on %s", stream)
		}
	}
}

func checkStatus(ts *testscript.TestScript, want string, err error) {
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit status %d, not %s", got, want)
	}
}

// signalled implements "signalled STATUS N FILE TEXT COMMAND...": it sends the command N interrupts. It sends the first one as soon as the file has
// the text, or if the file is "-", as soon as the output has it, and each later one when the command has answered the previous one. When it has
// answered the last one, the file answered is created. The command ends with that status. Its output is in the file signalled.out.
func signalled(ts *testscript.TestScript, _ bool, args []string) {
	want, args := args[0], args[1:]
	times, err := strconv.Atoi(args[0])
	ts.Check(err)
	var out notes
	cmd := start(ts, &out, args[3:])
	hasText := func() bool { return strings.Contains(out.String(), args[2]) }
	if args[1] != "-" {
		hasText = fileHas(ts.MkAbs(args[1]), args[2])
	}
	cmd.await(ts, hasText, args[2])
	for n := range times {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // it may have ended
		cmd.await(ts, func() bool { return strings.Count(out.String(), "^C received") > n }, "^C received")
	}
	ts.Check(os.WriteFile(ts.MkAbs("answered"), nil, 0o600))
	err = cmd.wait()
	ts.Check(os.WriteFile(ts.MkAbs("signalled.out"), []byte(out.String()), 0o644))
	ts.Logf("%s", out.String())
	checkStatus(ts, want, err)
}

// hungUp implements "hungup STATUS FILE TEXT COMMAND...": as soon as the file has the text, the command gets two signals for the end of its terminal,
// as from the system and from the shell. When it has received both, the file answered is created. It ends with that status. Its output is in the file
// hungup.out.
func hungUp(ts *testscript.TestScript, _ bool, args []string) {
	var out notes
	// If this process ignored the signal, as under nohup, the command would inherit that. It does not inherit a handler.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	cmd := start(ts, &out, args[3:])
	cmd.await(ts, fileHas(ts.MkAbs(args[1]), args[2]), args[2])
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGHUP) // it may have ended
	cmd.await(ts, func() bool { return strings.Contains(out.String(), "the terminal is gone") }, "the terminal is gone")
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGHUP)
	ts.Check(os.WriteFile(ts.MkAbs("answered"), nil, 0o600))
	err := cmd.wait()
	ts.Check(os.WriteFile(ts.MkAbs("hungup.out"), []byte(out.String()), 0o644))
	ts.Logf("%s", out.String())
	checkStatus(ts, args[0], err)
}

// started is a command that has been started.
type started struct {
	*exec.Cmd
	ended chan struct{}
	err   error // of the end
}

// wait waits until the command has ended.
func (s *started) wait() error {
	<-s.ended
	return s.err
}

// await waits until a condition is met or the command has ended. The script fails if the condition is not met in time.
func (s *started) await(ts *testscript.TestScript, met func() bool, what string) {
	if until(s.ended, met) {
		return
	}
	select {
	case <-s.ended:
	default:
		_ = syscall.Kill(-s.Process.Pid, syscall.SIGKILL)
		ts.Fatalf("%q never came", what)
	}
}

// start starts a command of a script in a process group of its own, because a terminal signals all processes of a
// group.
func start(ts *testscript.TestScript, out io.Writer, args []string) *started {
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, args[0])); err == nil {
			path = filepath.Join(dir, args[0])
			break
		}
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir, cmd.Env = ts.MkAbs("."), append(os.Environ(), scriptEnvironment(ts)...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ts.Check(cmd.Start())
	s := &started{Cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		s.err = cmd.Wait()
	}()
	return s
}

// killed implements "killed FILE TEXT COMMAND...": as soon as the file has the text, it kills the command and all
// processes that the command has started.
func killed(ts *testscript.TestScript, _ bool, args []string) {
	var out notes
	cmd := start(ts, &out, args[2:])
	cmd.await(ts, fileHas(ts.MkAbs(args[0]), args[1]), args[1])
	ts.Check(syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
	_ = cmd.wait() // the error is that it was killed
	ts.Logf("%s", out.String())
}

// fileHas returns a function that reports whether a file has a text.
func fileHas(file, text string) func() bool {
	return func() bool {
		content, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(content), text)
	}
}

// scriptEnvironment returns the variables of the script that its commands need.
func scriptEnvironment(ts *testscript.TestScript) []string {
	var out []string
	for _, name := range []string{"PATH", "HOME", "PULUMI_HOME", "PULUMI_BACKEND_URL", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE", "FAKE_CLOUD", "FAKE_FAULT"} {
		out = append(out, name+"="+ts.Getenv(name))
	}
	return out
}

// notes hold the output of a command so far.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}
