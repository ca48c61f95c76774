package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

type jsonFault struct {
	line    int
	problem string
}

// parseJSON parses JSON into nodes, in the order of the file. It does not use the YAML parser, which refuses tabs.
func parseJSON(data []byte) (*yaml.Node, *jsonFault) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	line := func() int { return bytes.Count(data[:min(int(dec.InputOffset()), len(data))], []byte("\n")) + 1 }
	n, err := readJSONValue(dec, line, 0)
	if err == nil {
		if _, trailing := dec.Token(); trailing == io.EOF {
			return n, nil
		}
		err = errors.New("unexpected text after the end of the value")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("unexpected end of the file")
	}
	fault := &jsonFault{line: line(), problem: err.Error()}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		fault.line = bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n")) + 1
	}
	return nil, fault
}

func readJSONValue(dec *json.Decoder, line func() int, depth int) (*yaml.Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values nest more than %d levels deep", maxDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	at := line()
	switch t := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: at}
		if t == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		for dec.More() { // the keys of an object are separate tokens
			c, err := readJSONValue(dec, line, depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, c)
		}
		_, err := dec.Token()
		return n, err
	case string:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t, Style: yaml.DoubleQuotedStyle, Line: at}, nil
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(t.String(), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: t.String(), Line: at}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(t), Line: at}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null", Line: at}, nil
}

// formatJSON formats nodes that [parseJSON] or this package made, in their order.
func formatJSON(n *yaml.Node) []byte {
	var b bytes.Buffer
	writeJSON(&b, n, "\n")
	b.WriteByte('\n')
	return b.Bytes()
}

func writeJSON(b *bytes.Buffer, n *yaml.Node, newline string) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!str":
		writeJSONText(b, n.Value)
	case n.Kind == yaml.ScalarNode:
		b.WriteString(n.Value)
	case len(n.Content) == 0 && n.Kind == yaml.MappingNode:
		b.WriteString("{}")
	case len(n.Content) == 0:
		b.WriteString("[]")
	default:
		writeJSONCollection(b, n, newline)
	}
}

func writeJSONCollection(b *bytes.Buffer, n *yaml.Node, newline string) {
	inner := newline + "    "
	open, closing, step := byte('['), byte(']'), 1
	if n.Kind == yaml.MappingNode {
		open, closing, step = '{', '}', 2
	}
	b.WriteByte(open)
	for i := 0; i < len(n.Content); i += step {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(inner)
		if step == 2 {
			writeJSONText(b, n.Content[i].Value)
			b.WriteString(": ")
		}
		writeJSON(b, n.Content[i+step-1], inner)
	}
	b.WriteString(newline)
	b.WriteByte(closing)
}

func writeJSONText(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)       // a string can always be encoded
	b.Truncate(b.Len() - 1) // the encoder ends with a newline
}
