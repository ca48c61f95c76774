package random

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"golang.org/x/crypto/bcrypt"
)

// class is a set of characters that a string may or must have.
type class struct{ name, least, characters string }

// classes returns the sets, with their names in the inputs.
func classes(overrideSpecial string) []class {
	special := "!@#$%&*()-_=+[]{}<>:?"
	if overrideSpecial != "" {
		special = overrideSpecial
	}
	return []class{
		{"upper", "minUpper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, {"lower", "minLower", "abcdefghijklmnopqrstuvwxyz"},
		{"numeric", "minNumeric", "0123456789"}, {"special", "minSpecial", special},
	}
}

func textInputs() []native.Field {
	fields := []native.Field{required("length", native.KindInteger, "How many characters.")}
	for _, c := range classes("") {
		allowed := withDefault(optional(c.name, native.KindBoolean, "Whether there may be such characters."), native.Bool(true))
		if c.name == "numeric" { // see numeric
			allowed = chosen(c.name, "Whether there may be digits. The default is true.")
		}
		fields = append(fields, allowed,
			withDefault(optional(c.least, native.KindInteger, "How many there are at least."), native.Int(0)))
	}
	number := chosen("number", "The old name of numeric.")
	number.Old = "numeric"
	return append(fields, number,
		optional("overrideSpecial", native.KindString, "The special characters to use instead of the usual ones."))
}

func chosen(name, doc string) native.Field {
	f := optional(name, native.KindBoolean, doc)
	f.Output = native.Chosen
	return f
}

func text() native.Resource {
	return native.Resource{
		Type: token("RandomString"), SchemaVersion: "2", Doc: "A random string, for names rather than secrets.",
		Inputs: textInputs(), Computed: []native.Field{computed("result", native.KindString, "The string.")},
		Check: checkText, Diff: alignNumber,
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			result, err := generate(c.Inputs)
			return native.Made{ID: result, Outputs: textOutputs(c.Inputs, result)}, err
		},
		Import: func(_ context.Context, c native.Call) (native.Made, error) {
			return native.Made{ID: c.ID, Outputs: importedText(c.ID)}, nil
		},
	}
}

func password() native.Resource {
	made := func(outputs native.Outputs, result string) (native.Made, error) {
		hash, err := hashed(result)
		outputs["bcryptHash"] = native.Text(hash)
		return native.Made{ID: "none", Outputs: outputs}, err
	}
	return native.Resource{
		Type: token("RandomPassword"), SchemaVersion: "3", Doc: "A random string that is kept secret.",
		Inputs:   textInputs(),
		Computed: []native.Field{secret("bcryptHash", "The bcrypt hash of (the first 72 bytes of) the password."), secret("result", "The password.")},
		Check:    checkText, Diff: alignNumber,
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			result, err := generate(c.Inputs)
			if err != nil {
				return native.Made{}, err
			}
			return made(textOutputs(c.Inputs, result), result)
		},
		Import: func(_ context.Context, c native.Call) (native.Made, error) { return made(importedText(c.ID), c.ID) },
	}
}

// hashed returns the bcrypt hash of s, cut to the length that bcrypt accepts.
func hashed(s string) (string, error) {
	b := []byte(s)
	hash, err := bcrypt.GenerateFromPassword(b[:min(len(b), 72)], bcrypt.DefaultCost)
	return string(hash), err
}

func textOutputs(in native.Values, result string) native.Outputs {
	digits := native.Bool(numeric(in))
	return native.Outputs{"result": native.Text(result), "number": digits, "numeric": digits}
}

// importedText returns the outputs for an imported string: its length, and nothing about how it was made.
func importedText(s string) native.Outputs {
	yes := native.Bool(true)
	return native.Outputs{"result": native.Text(s), "length": native.Int(len(s)), "number": yes, "numeric": yes}
}

func checkText(in native.Values) []providers.CheckFailure {
	failures := notNegative("length", 1)(in)
	sum, set, known := 0, "", true
	for _, c := range classes(in.Text("overrideSpecial")) {
		failures = append(failures, notNegative(c.least, 0)(in)...)
		known = known && in.Has(c.least) && !in.Value(c.name).IsUnknown()
		sum += in.Int(c.least)
		if allows(in, c) {
			set += c.characters
		}
	}
	if in.Has("number") && in.Has("numeric") && in.Bool("number") != in.Bool("numeric") {
		failures = append(failures, providers.CheckFailure{
			Property: "number", Reason: "number is the old name of numeric, and the two differ; leave number out",
		})
	}
	if known && in.Has("length") && in.Int("length") < sum {
		failures = append(failures, providers.CheckFailure{Property: "length", Reason: fmt.Sprintf(
			"property %q is %d, but the least numbers of characters add up to %d", "length", in.Int("length"), sum)})
	}
	if known && set == "" && sum < in.Int("length") {
		failures = append(failures, providers.CheckFailure{Property: "special", Reason: "no character class is enabled; enable at least one"})
	}
	return failures
}

// numeric reports whether digits are allowed. "number" is the old name of "numeric"; if only one is given, it sets both.
func numeric(in native.Values) bool {
	for _, name := range []string{"numeric", "number"} {
		if in.Has(name) {
			return in.Bool(name)
		}
	}
	return true
}

// alignNumber compares the values of the two names of one setting: the state has both, programs give one or none.
func alignNumber(c native.Call, answer *providers.DiffResponse) {
	unknown := c.Inputs.Value("numeric").IsUnknown() || c.Inputs.Value("number").IsUnknown()
	if !unknown && numeric(c.State) == numeric(c.Inputs) {
		native.Forget(answer, "numeric")
		native.Forget(answer, "number")
	}
	// An empty set of special characters counts as a missing one.
	if !c.Inputs.Value("overrideSpecial").IsUnknown() && c.State.Text("overrideSpecial") == c.Inputs.Text("overrideSpecial") {
		native.Forget(answer, "overrideSpecial")
	}
}

func allows(in native.Values, c class) bool {
	if c.name == "numeric" {
		return numeric(in)
	}
	return in.Bool(c.name)
}

// generate makes a string with at least the required number of characters of each class, in random order.
func generate(in native.Values) (string, error) {
	all := ""
	var result []rune
	add := func(set string, n int) error {
		for range n {
			r, err := pick(set)
			if err != nil {
				return err
			}
			result = append(result, r)
		}
		return nil
	}
	for _, c := range classes(in.Text("overrideSpecial")) {
		if allows(in, c) {
			all += c.characters
		}
		if err := add(c.characters, in.Int(c.least)); err != nil {
			return "", err
		}
	}
	if err := add(all, in.Int("length")-len(result)); err != nil {
		return "", err
	}
	err := mix(result)
	return string(result), err
}

func pick(set string) (rune, error) {
	if set == "" {
		return 0, errors.New("no character class is enabled; enable at least one")
	}
	runes := []rune(set)
	i, err := rand.Int(rand.Reader, big.NewInt(int64(len(runes))))
	if err != nil {
		return 0, err
	}
	return runes[i.Int64()], nil
}

// mix shuffles uniformly.
func mix(runes []rune) error {
	for i := len(runes) - 1; i > 0; i-- {
		j, err := rand.Int(rand.Reader, big.NewInt(int64(i+1)))
		if err != nil {
			return err
		}
		runes[i], runes[j.Int64()] = runes[j.Int64()], runes[i]
	}
	return nil
}
