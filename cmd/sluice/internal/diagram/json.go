package diagram

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"
	"unicode/utf16"

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

func jsonOf(d *Diagram) ([]byte, error) {
	doc := document{Version: 1, Project: d.Project, Stack: d.Stack, Waves: d.Waves, Nodes: []documentNode{}, Edges: []documentEdge{}}
	for i, n := range d.Nodes {
		node := documentNode{
			ID: nodeName(i), URN: n.URN, Type: n.Type, Name: n.Name, Component: n.Component, Protected: n.Protected, Old: n.Old,
			Change: n.Change, Uncertain: n.Uncertain, Wave: n.Wave,
		}
		if n.Parent != none {
			node.Parent = nodeName(n.Parent)
		}
		doc.Nodes = append(doc.Nodes, node)
	}
	for _, e := range d.Edges {
		doc.Edges = append(doc.Edges, documentEdge{nodeName(e.Node), nodeName(e.On), e.Kind, e.Properties})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	return escapeInvisible(b.Bytes()), nil
}

// escapeInvisible escapes the invisible characters of JSON texts, such as those that change the direction of the text.
func escapeInvisible(text []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r < unicode.MaxASCII || unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
