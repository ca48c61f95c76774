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
