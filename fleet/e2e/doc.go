// Package e2e has tests that build sluice-fleet and sluice, run them as processes, kill them, and observe them from outside.
package e2e
