//go:build testprograms

package main

// The programs in testdata are built by the tests, and are part of no package. These are the packages that they import: go mod tidy keeps what they
// need.
import (
	_ "github.com/pulumi/pulumi/sdk/v3/go/property"
	_ "github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	_ "github.com/pulumi/pulumi/sdk/v3/go/pulumi/policyx"
	_ "github.com/pulumi/pulumi/sdk/v3/go/pulumi/provider"
)
