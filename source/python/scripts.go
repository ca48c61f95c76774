package python

import _ "embed"

// runScript runs a program.
//
//go:embed run.py
var runScript []byte

// packagesScript lists the installed SDKs.
//
//go:embed packages.py
var packagesScript string

// debugScript runs a file or a module that waits for a debugger.
//
//go:embed debug.py
var debugScript []byte
