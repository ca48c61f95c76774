package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/interrupts"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state/backend"
)

// TestMain makes sluice and the plugins of the tests available as commands of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"sluice":                      func() { os.Exit(realMain()) },
		"pulumi":                      func() { os.Exit(realMain()) },
		"pulumi-language-fake":        serveFakeLanguage,
		"pulumi-resource-fake":        serveFakeProvider,
		"pulumi-converter-fake":       serveFakeConverter,
		"pulumi-analyzer-policy-fake": serveFakeAnalyzer,
		"holdlock":                    holdLock,
		"callengine":                  callEngine,
	})
}

// tests are all tests, and what they build.
type tests struct{ *testing.M }

// Run runs the tests.
func (m tests) Run() int {
	directory, err := os.MkdirTemp("", "sluice-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	executables.directory = directory
	defer os.RemoveAll(directory)
	return m.M.Run()
}

func TestScripts(t *testing.T) { testscript.Run(t, scripts("testdata/script")) }

// holdLock is a command that locks the selected stack and waits at a question forever.
func holdLock() {
	open := session.NewOpener(terminal.New(terminal.ProcessStreams()))
	s, err := open.State(context.Background(), "")
	if err == nil {
		err = interrupts.Hold(context.Background(), open.Terminal, []backend.Lockable{s.State}, func(*interrupts.Holder) error { select {} })
	}
	os.Exit(report(open, err))
}
