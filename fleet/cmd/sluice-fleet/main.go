package main

import (
	_ "github.com/sluice-iac/sluice/fleet/server"
	_ "go.temporal.io/sdk/client"
	_ "go.temporal.io/sdk/testsuite"
	_ "go.temporal.io/sdk/worker"
)

func main() {}
