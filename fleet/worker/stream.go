package worker

import (
	"encoding/json"
	"fmt"
)

// members reads an object, or null, and calls read before each value, which read must consume.
func members(dec *json.Decoder, read func(name string) error) error {
	begins, err := dec.Token()
	if err != nil || begins == nil {
		return err
	}
	if begins != json.Delim('{') {
		return fmt.Errorf("%v instead of an object", begins)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		if err := read(name.(string)); err != nil { // keys are strings
			return err
		}
	}
	_, err = dec.Token()
	return err
}

// elements reads an array, or null, and calls take with each element.
func elements(dec *json.Decoder, take func(json.RawMessage)) error {
	begins, err := dec.Token()
	if err != nil || begins == nil {
		return err
	}
	if begins != json.Delim('[') {
		return fmt.Errorf("%v instead of an array", begins)
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		take(raw)
	}
	_, err = dec.Token()
	return err
}

// skip skips a value. It holds one token at a time.
func skip(dec *json.Decoder) error {
	for depth := 0; ; {
		part, err := dec.Token()
		if err != nil {
			return err
		}
		switch part {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
