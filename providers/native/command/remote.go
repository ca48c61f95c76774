package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/providers/native"
	"golang.org/x/crypto/ssh"
)

func (r *remote) command() native.Resource {
	inputs := append([]native.Field{
		previousOutput(), connection(), environment(), logging("remote"),
		optional("stdin", native.KindString, "What the command reads from its standard input."),
	}, lifecycle()...)
	return living(native.Resource{
		Type: "command:remote:Command", Doc: "Commands that are run over SSH when the resource is made, changed and deleted.",
		Inputs: inputs, Computed: []native.Field{output("stderr"), output("stdout")},
	}, r.perform)
}

// perform runs a command on the machine, with the shell of the user there. When ctx ends, it requests the end of the
// command from the server, and closes the connection. It depends on the server whether that ends the processes of the
// command.
func (r *remote) perform(ctx context.Context, c native.Call, command string) (native.Outputs, error) {
	conn, err := r.dial(ctx, c)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	session, err := conn.NewSession()
	if err != nil {
		return nil, err
	}
	defer session.Close()
	defer conn.endWith(ctx, func() { _ = session.Signal(ssh.SIGKILL) })()
	given := c.Inputs.TextMap("environment")
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := session.Setenv(name, given[name]); err != nil {
			return nil, fmt.Errorf("the server does not take the environment variable %s (see AcceptEnv of its configuration; "+
				"%s=… before the command may do instead): %w", name, name, err)
		}
	}
	for _, variable := range previousVariables(c) {
		name, value, _ := strings.Cut(variable, "=")
		if err := session.Setenv(name, value); err != nil {
			c.Log(native.Message{Warning: true, Text: fmt.Sprintf(
				"the server does not take the environment variable %s with the output of the command before: %v", name, err)})
		}
	}
	if in := c.Inputs.Text("stdin"); in != "" {
		session.Stdin = strings.NewReader(in)
	}
	o := newRecorder(c)
	session.Stdout, session.Stderr = o.writer("stdout"), o.writer("stderr")
	err = session.Run(command)
	o.flush()
	if err != nil {
		return nil, o.failure(ctx, command, err)
	}
	return native.Outputs{"stdout": native.Text(o.text("stdout")), "stderr": native.Text(o.text("stderr"))}, nil
}
