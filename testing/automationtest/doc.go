// Package automationtest has tests in which programs drive sluice through the Automation API of Pulumi's SDKs for Node.js,
// Python and Go, with sluice in the place of Pulumi's command. Each test covers the same: inline and local programs, settings
// and secrets, outputs, events, plans, states, stacks, errors that the SDKs recognize, and cancellation.
package automationtest
