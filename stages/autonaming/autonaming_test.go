package autonaming_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages/autonaming"
	"github.com/sluice-iac/sluice/urn"
)

var stack = autonaming.Stack{
	Organization: "organization", Project: "shop", Stack: "dev",
	Config: func(name string) (string, bool) { return "x", name == "suffix" },
}

const bucket urn.URN = "urn:pulumi:dev::shop::aws:s3/bucket:Bucket::logs"

func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		want   *providers.Autonaming
		random bool
	}{
		"nothing said":        {`{}`, nil, true},
		"default":             {`{"mode":"default"}`, nil, true},
		"verbatim":            {`{"mode":"verbatim"}`, &providers.Autonaming{ProposedName: "logs", Mode: providers.AutonamingEnforce}, false},
		"disabled":            {`{"mode":"disabled"}`, &providers.Autonaming{Mode: providers.AutonamingDisable}, false},
		"pattern":             {`{"pattern":"${project}-${stack}-${name}-${config.suffix}"}`, &providers.Autonaming{ProposedName: "shop-dev-logs-x"}, false},
		"enforced pattern":    {`{"pattern":"${name}","enforce":true}`, &providers.Autonaming{ProposedName: "logs", Mode: providers.AutonamingEnforce, WarnIfUnsupported: true}, false},
		"package wins":        {`{"mode":"verbatim","providers":{"aws":{"mode":"disabled"}}}`, &providers.Autonaming{Mode: providers.AutonamingDisable, WarnIfUnsupported: true}, false},
		"other package":       {`{"mode":"verbatim","providers":{"gcp":{"mode":"disabled"}}}`, &providers.Autonaming{ProposedName: "logs", Mode: providers.AutonamingEnforce}, false},
		"type wins":           {`{"providers":{"aws":{"mode":"disabled","resources":{"aws:s3/bucket:Bucket":{"mode":"verbatim"}}}}}`, &providers.Autonaming{ProposedName: "logs", Mode: providers.AutonamingEnforce, WarnIfUnsupported: true}, false},
		"unknown hole stays":  {`{"pattern":"${name}${what}"}`, &providers.Autonaming{ProposedName: "logs${what}"}, false},
		"package without one": {`{"mode":"verbatim","providers":{"aws":{}}}`, &providers.Autonaming{ProposedName: "logs", Mode: providers.AutonamingEnforce, WarnIfUnsupported: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := autonaming.Parse(c.config, stack)
			require.NoError(t, err)
			got, random := n.Autoname(bucket, []byte("seed"))
			require.Equal(t, c.want, got)
			require.Equal(t, c.random, random)
		})
	}
}

func TestRandomPartsDependOnTheSeedOnly(t *testing.T) {
	n, err := autonaming.Parse(`{"pattern":"${name}-${hex(7)}-${num(3)}-${string(2)}-${alphanum(5)}-${uuid}"}`, stack)
	require.NoError(t, err)
	a, random := n.Autoname(bucket, []byte("one"))
	require.True(t, random)
	require.Regexp(t, `^logs-[0-9a-f]{7}-[0-9]{3}-[a-z]{2}-[a-z0-9]{5}-[0-9a-f]{8}-[0-9a-f-]{27}$`, a.ProposedName)
	again, _ := n.Autoname(bucket, []byte("one"))
	require.Equal(t, a, again)
	other, _ := n.Autoname(bucket, []byte("two"))
	require.NotEqual(t, a, other)
}

func TestBadConfigurationIsRefusedByName(t *testing.T) {
	for config, part := range map[string]string{
		`{"mode":"loud"}`:                  `mode is "loud"`,
		`{"mode":"default","pattern":"x"}`: "mode goes with neither",
		`{"enforce":true}`:                 "enforce needs a pattern",
		`{"pattern":"${config.nothing}"}`:  `no value found for key "nothing"`,
		`{"surprise":1}`:                   "surprise",
		`[]`:                               "autonaming",
		`{"providers":{"a":{"mode":"x"}}}`: `provider "a"`,
		`{"providers":{"a":{"resources":{"a:b:C":{}}}}}`: `resource "a:b:C"`,
	} {
		_, err := autonaming.Parse(config, stack)
		require.ErrorContains(t, err, part, config)
	}
}
