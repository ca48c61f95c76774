package random_test

import (
	"testing"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/random"
	"github.com/sluice-iac/sluice/providers/providertest"
)

func TestStringsAreLedThroughTheirLives(t *testing.T) {
	providertest.Check(t, func() providers.Provider { return native.New(random.Package(native.Options{}), native.Options{}) }, providertest.Case{
		Type: "random:index/randomString:RandomString", Inputs: props("length", 8.0, "special", false), Replaced: props("length", 9.0, "special", false),
		OnlyRecorded: true,
	})
}
