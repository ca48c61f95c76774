// Package automationtest has the tests in which programs drive sluice through the Automation API of Pulumi's SDKs for Node.js,
// Python and Go, as they drive the command that sluice stands in for. Each goes through the same: inline and local programs,
// settings and secrets, outputs, events, plans, states, stacks, errors that the SDKs recognize, and cancellation.
package automationtest
