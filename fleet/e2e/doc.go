// Package e2e has the tests that run sluice-fleet and sluice as processes: they are built before, killed in between, and looked at from outside.
package e2e
