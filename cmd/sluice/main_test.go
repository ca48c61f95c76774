package main

import (
	"os"
	"testing"

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

func TestScripts(t *testing.T) { testscript.Run(t, scripts("testdata/script")) }
