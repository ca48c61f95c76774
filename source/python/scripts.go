package python

import _ "embed"

// runScript runs a program.
//
//go:embed run.py
var runScript []byte

// packagesScript lists the SDKs that are installed.
//
//go:embed packages.py
var packagesScript string

// debugScript has a file or a module wait for a debugger.
//
//go:embed debug.py
var debugScript []byte
