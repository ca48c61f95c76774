package providers

// IsThrottling is isThrottling for tests.
var IsThrottling = isThrottling
