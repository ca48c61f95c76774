package main

import (
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes sluice, and plugins of the tests' own, commands of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sluice":               func() { os.Exit(realMain()) },
		"pulumi-language-fake": serveFakeLanguage,
		"pulumi-resource-fake": serveFakeProvider,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PULUMI_HOME", e.WorkDir+"/home")
			e.Setenv("PULUMI_BACKEND_URL", "file://"+e.WorkDir+"/backend")
			e.Setenv("PULUMI_CONFIG_PASSPHRASE", "correct horse")
			e.Setenv("FAKE_CLOUD", e.WorkDir+"/cloud")
			e.Setenv("HOME", e.WorkDir)
			return os.MkdirAll(e.WorkDir+"/backend", 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// waitfor FILE waits until somebody has made the file.
			"waitfor": func(ts *testscript.TestScript, _ bool, args []string) {
				for range 1000 {
					if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
				ts.Fatalf("%s never appeared", args[0])
			},
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}
