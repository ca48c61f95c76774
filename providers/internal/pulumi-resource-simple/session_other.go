//go:build !unix

package main

import "errors"

const sessionVariable = "SIMPLE_SESSION"

func runInSession() error { return errors.New(sessionVariable + ": this system has no sessions") }
