// Package null is the built-in provider of the package "null": a resource that consists of its triggers, and a function
// that returns its arguments. It has the shapes of the public package of that name.
//
// Invariant: nothing here has an effect.
package null

import (
	"context"
	"crypto/rand"
	"math/big"

	"github.com/sluice-iac/sluice/providers/native"
)

// Name is the package's name.
const Name = "null"

// Package describes the package.
func Package(native.Options) native.Package {
	texts, text := native.MapOf(native.Of(native.KindString)), native.Of(native.KindString)
	inputs := []native.Field{
		{Name: "hasComputedDefault", Type: text, Default: native.Text("default"), Doc: "Given back."},
		{Name: "inputs", Type: texts, Doc: "Given back as outputs."},
	}
	return native.Package{
		Name: Name, Version: "0.0.9", Doc: "Resources without an effect.",
		Resources: []native.Resource{{
			Type: "null:index/resource:Resource", Doc: "A resource that is made anew when its triggers change.",
			Inputs: []native.Field{{Name: "triggers", Type: texts, Replace: true, Doc: "Values whose change makes it anew."}},
			Create: func(context.Context, native.Call) (native.Made, error) {
				n, err := number()
				return native.Made{ID: n}, err
			},
			Import: func(_ context.Context, c native.Call) (native.Made, error) { return native.Made{ID: c.ID}, nil },
		}},
		Functions: []native.Function{{
			Token: "null:index/getDataSource:getDataSource", Doc: "Gives back what it gets.", Inputs: inputs,
			Outputs: append([]native.Field{
				{Name: "id", Type: text, Required: true}, {Name: "outputs", Type: texts, Required: true},
				{Name: "random", Type: text, Required: true, Doc: "A random number."},
			}, inputs...),
			Call: func(_ context.Context, c native.Call) (native.Outputs, error) {
				n, err := number()
				outputs := native.Object(native.Outputs{})
				if c.Inputs.Has("inputs") {
					outputs = c.Inputs.Value("inputs")
				}
				return native.Outputs{"id": native.Text("static"), "random": native.Text(n), "outputs": outputs}, err
			},
		}},
	}
}

// number returns a random number of 62 bits, like the IDs of the public package.
func number() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return "", err
	}
	return n.String(), nil
}
