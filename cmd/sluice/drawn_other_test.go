//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func onTerminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("pseudo terminals are used on Linux only")
}
