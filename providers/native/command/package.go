package command

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"github.com/sluice-iac/sluice/providers/native"
)

// Name is the package's name.
const Name = "command"

// Package describes the package. Commands run in o.Directory and with o.Environ unless their inputs change that.
func Package(o native.Options) native.Package {
	l, r := &local{options: o.Complete()}, &remote{options: o.Complete()}
	return native.Package{
		Name: Name, Version: "1.2.1", Doc: "Commands as resources.", KeepsDefaults: true,
		Resources: []native.Resource{l.command(), r.command(), r.copyToRemote(), r.copyFile()},
		Functions: []native.Function{l.run()},
	}
}

func optional(name string, k native.Kind, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(k), Doc: doc}
}

func texts(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.ArrayOf(native.Of(native.KindString)), Doc: doc}
}

// logging returns the input that selects the output to show while a command runs; both streams by default.
func logging(module string) native.Field {
	return native.Field{
		Name: "logging", Doc: "Which output is shown while the command runs. The default is both, or none if an input is secret.",
		Type: native.Type{
			Kind: native.KindString, Token: "command:" + module + ":Logging",
			Enum: []string{"stdout", "stderr", "stdoutAndStderr", "none"},
		},
	}
}

// logs reports whether the output of a command is shown. Output that is as secret as an input is shown only if the
// inputs request it.
func logs(c native.Call, stream string) bool {
	l := c.Inputs.Text("logging")
	if l == "" {
		return !c.Secretive
	}
	return l == "stdoutAndStderr" || l == stream
}

func triggers() native.Field {
	return native.Field{
		Name: "triggers", Type: native.ArrayOf(native.Of(native.KindAny)), Replace: true,
		Doc: "Values whose change makes the resource anew.",
	}
}

// lifecycle returns the inputs for the commands of a resource.
func lifecycle() []native.Field {
	return []native.Field{
		optional("create", native.KindString, "The command that makes the resource."),
		optional("delete", native.KindString, "The command that deletes the resource. It sees the output of the last create or update."),
		optional("update", native.KindString, "The command that changes the resource; create if it is missing."),
		triggers(),
	}
}

// living makes a resource run the commands of its inputs, by perform, when it is created, updated and deleted.
func living(
	r native.Resource, perform func(ctx context.Context, c native.Call, command string) (native.Outputs, error),
) native.Resource {
	r.Create = func(ctx context.Context, c native.Call) (native.Made, error) {
		id, err := newID(c.Name)
		if err != nil {
			return native.Made{}, err
		}
		outputs := noOutput()
		if c.Inputs.Has("create") {
			outputs, err = perform(ctx, c, c.Inputs.Text("create"))
		}
		return native.Made{ID: id, Outputs: outputs}, err
	}
	r.Update = func(ctx context.Context, c native.Call) (native.Outputs, error) {
		for _, name := range []string{"update", "create"} {
			if c.Inputs.Has(name) {
				return perform(ctx, c, c.Inputs.Text(name))
			}
		}
		return previous(c.State), nil
	}
	r.Delete = func(ctx context.Context, c native.Call) error {
		if !c.Inputs.Has("delete") {
			return nil
		}
		_, err := perform(ctx, c, c.Inputs.Text("delete"))
		return err
	}
	return r
}

func environment() native.Field {
	return native.Field{
		Name: "environment", Type: native.MapOf(native.Of(native.KindString)), Doc: "Variables to add to the environment.",
	}
}

func previousOutput() native.Field {
	return optional("addPreviousOutputInEnv", native.KindBoolean,
		"Whether the command finds the output of the one before in PULUMI_COMMAND_STDOUT and PULUMI_COMMAND_STDERR. The default is true.")
}

func wantsPreviousOutput(in native.Values) bool {
	return !in.Has("addPreviousOutputInEnv") || in.Bool("addPreviousOutputInEnv")
}

// output describes the output for one stream of a command.
func output(name string) native.Field {
	return native.Field{
		Name: name, Type: native.Of(native.KindString), Required: true, Derived: true, Doc: "What the command wrote to its " + name + ".",
	}
}

// noOutput returns the outputs of a resource for which no command was run.
func noOutput() native.Outputs {
	return native.Outputs{"stdout": native.Text(""), "stderr": native.Text("")}
}

// previous returns the recorded output.
func previous(state native.Values) native.Outputs {
	out := noOutput()
	for _, name := range []string{"stdout", "stderr", "assets", "archive"} {
		if v := state.Value(name); !v.IsNull() {
			out[name] = v
		}
	}
	return out
}

// newID returns the ID of a resource that has no identity of its own: its name and some random digits.
func newID(name string) (string, error) {
	b := make([]byte, 4)
	_, err := rand.Read(b)
	return name + hex.EncodeToString(b), err
}
