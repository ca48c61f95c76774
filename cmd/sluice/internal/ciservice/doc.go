// Package ciservice integrates with CI services: GitHub Actions, GitLab and Buildkite. It folds parts of a log, annotates lines of source files, and
// writes the summary of a job, in the format of each service.
//
// It depends on nothing about operations. It reaches a service only through the output of the process, the files that the service and its jobs name,
// and Buildkite's agent.
//
// Invariant: only [From] reads the environment, and no text that passes a [Guard] is a command to the service.
package ciservice
