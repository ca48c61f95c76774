package sluice

import "github.com/sluice-iac/sluice/providers"

// withBuiltin serves the package "pulumi" in process and everything else through the caller's host.
func withBuiltin(s *session) providers.Host { return s.options.Providers }
