package main

import (
	"bytes"
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// decodes implements "decodes FILE": Pulumi's types decode every field of a stack file or an export, and lose nothing
// when they encode it again.
func decodes(ts *testscript.TestScript, _ bool, args []string) {
	var file struct {
		Version    int                   `json:"version"`
		Features   []string              `json:"features,omitempty"`
		Checkpoint *apitype.CheckpointV3 `json:"checkpoint,omitempty"`
		Deployment *apitype.DeploymentV3 `json:"deployment,omitempty"`
	}
	text := ts.ReadFile(args[0])
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	ts.Check(d.Decode(&file))
	if (file.Checkpoint == nil) == (file.Deployment == nil) {
		ts.Fatalf("%s is neither a stack file nor an export", args[0])
	}
	again, err := json.Marshal(file)
	ts.Check(err)
	require.JSONEq(scriptFailure{ts}, text, string(again))
}

// scriptFailure turns a failed requirement into the failure of a script.
type scriptFailure struct{ *testscript.TestScript }

func (s scriptFailure) Errorf(format string, args ...any) { s.Logf(format, args...) }
func (s scriptFailure) FailNow() {
	s.Fatalf("it does not survive a round trip through Pulumi's types")
}
