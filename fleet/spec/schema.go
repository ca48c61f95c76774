package spec

import _ "embed"

//go:embed fleet.schema.json
var schema []byte

// Schema returns the JSON schema of fleet.yaml, for editors. It is generated from [Document].
func Schema() []byte { return schema }
