// Package ciservice speaks to the services that run jobs: GitHub Actions, GitLab and Buildkite. It folds parts of a text, marks lines of source files,
// and writes the summary of a job, in the way of each of them.
//
// It knows nothing of operations, and does not talk to the services but through the output of the process, the files that they and their jobs name, and
// Buildkite's agent.
//
// Invariant: the environment is read in [From] and nowhere else, and no text that passes a [Guard] is a command to the service.
package ciservice
