package diagram

import (
	"github.com/sluice-iac/sluice/urn"
)

// document is a diagram in JSON (docs/graphs.md).
type document struct {
	Version int            `json:"version"`
	Project string         `json:"project"`
	Stack   string         `json:"stack"`
	Waves   int            `json:"waves,omitempty"`
	Nodes   []documentNode `json:"nodes"`
	Edges   []documentEdge `json:"edges"`
}

type documentNode struct {
	ID        string   `json:"id"`
	URN       urn.URN  `json:"urn"`
	Type      urn.Type `json:"type"`
	Name      string   `json:"name"`
	Parent    string   `json:"parent,omitempty"` // an ID
	Component bool     `json:"component,omitempty"`
	Protected bool     `json:"protected,omitempty"`
	Old       bool     `json:"old,omitempty"`
	Change    Change   `json:"change,omitempty"`
	Uncertain bool     `json:"uncertain,omitempty"`
	Wave      int      `json:"wave,omitempty"`
}

type documentEdge struct {
	Node       string   `json:"node"`
	Needs      string   `json:"needs"`
	Kind       EdgeKind `json:"kind"`
	Properties []string `json:"properties,omitempty"`
}
