package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/direct"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
)

// doCall is an operation with a configured provider.
type doCall struct {
	doing    *doing
	provider *direct.Provider
	op       doOperation
	inputs   property.Map
}

// during calls the provider, so that Ctrl-C cancels the call.
func (c *doCall) during(ctx context.Context, f func(context.Context) error) error {
	note := func(text string) { fmt.Fprintf(c.doing.open.Terminal.Err, "%s\n", text) }
	interrupted, err := direct.Interruptible(ctx, c.provider.Inner.Cancel, note, f)
	if interrupted && err != nil {
		return exit.Cancelledf("the command was cancelled: %w", err)
	}
	return err
}

func (c *doCall) run(ctx context.Context) error {
	switch c.op.name {
	case "":
		return c.invoke(ctx)
	case "list":
		return c.list(ctx)
	case "create":
		return c.create(ctx)
	}
	r := c.doing.member.Resource
	var old direct.Object
	err := c.during(ctx, func(ctx context.Context) (err error) {
		old, err = c.provider.Read(ctx, r, c.op.id)
		return err
	})
	if errors.As(err, new(*direct.NotFoundError)) && c.op.name == "upsert" {
		return c.create(ctx)
	}
	if err != nil {
		return err
	}
	c.learnObject(old)
	if old.Unhealthy != "" {
		c.doing.open.Terminal.Warn("the object is not healthy: %s", c.doing.masks.Mask(old.Unhealthy))
	}
	switch c.op.name {
	case "read":
		return c.print(old)
	case "delete":
		return c.remove(ctx, old)
	}
	return c.update(ctx, old)
}

func (c *doCall) learnObject(o direct.Object) {
	if !c.doing.flags.showSecrets {
		c.doing.masks.Learn(o.Inputs)
		c.doing.masks.Learn(o.Outputs)
	}
}

func (c *doCall) invoke(ctx context.Context) error {
	var result property.Value
	err := c.during(ctx, func(ctx context.Context) (err error) {
		result, err = c.provider.Invoke(ctx, c.doing.member.Function, c.inputs, c.doing.flags.dryRun)
		return err
	})
	if err != nil {
		return err
	}
	if !c.doing.flags.showSecrets {
		c.doing.masks.LearnValue(result)
	}
	return format.JSON(c.doing.open.Terminal.Data(), c.plain(result))
}

func (c *doCall) list(ctx context.Context) error {
	var list []providers.Listed
	more := false
	err := c.during(ctx, func(ctx context.Context) (err error) {
		list, more, err = c.provider.List(ctx, c.doing.member.Resource, c.inputs, c.doing.flags.count, c.doing.flags.all || c.doing.flags.count > 0)
		return err
	})
	if err != nil {
		return err
	}
	type listed struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	out := make([]listed, len(list))
	for i, l := range list {
		out[i] = listed(l)
	}
	if more && !c.doing.flags.all && c.doing.flags.count == 0 {
		c.doing.open.Terminal.Warn("there are more objects; --all lists all of them")
	}
	return format.JSON(c.doing.open.Terminal.Data(), out)
}

func (c *doCall) create(ctx context.Context) error {
	r := c.doing.member.Resource
	checked, err := c.check(ctx, nil, c.inputs)
	if err != nil {
		return err
	}
	err = c.confirm(ctx, "create", fmt.Sprintf("%s %s:\n%s", c.will("create"), r.Token, c.listed(checked)))
	if err != nil {
		return err
	}
	var made direct.Object
	err = c.during(ctx, func(ctx context.Context) (err error) {
		made, err = c.provider.Create(ctx, r, checked, c.doing.flags.dryRun)
		return err
	})
	if err != nil {
		return c.explain("create", made, err)
	}
	return c.print(made)
}

func (c *doCall) check(ctx context.Context, old *direct.Object, inputs property.Map) (checked property.Map, err error) {
	err = c.during(ctx, func(ctx context.Context) (err error) {
		checked, err = c.provider.Check(ctx, c.doing.member.Resource, old, inputs)
		return err
	})
	if !c.doing.flags.showSecrets {
		c.doing.masks.Learn(checked)
	}
	return checked, err
}

func (c *doCall) update(ctx context.Context, old direct.Object) error {
	r := c.doing.member.Resource
	inputs := c.inputs
	if c.op.name == "patch" {
		if !old.HasInputs {
			return fmt.Errorf("the provider does not give the inputs of an existing %s, so a patch would reset all others; "+
				"`upsert` changes the object if you give all inputs", r.Token)
		}
		inputs = old.Inputs
		for name, v := range c.inputs.All() {
			inputs = inputs.With(name, v)
		}
	}
	checked, err := c.check(ctx, &old, inputs)
	if err != nil {
		return err
	}
	var changed bool
	var replacing []string
	err = c.during(ctx, func(ctx context.Context) (err error) {
		changed, replacing, err = c.provider.Diff(ctx, r, old, checked)
		return err
	})
	switch {
	case err != nil:
		return err
	case !changed:
		fmt.Fprintln(c.doing.open.Terminal.Err, "Nothing changes.")
		return c.print(old)
	case len(replacing) > 0:
		return fmt.Errorf("the object %q cannot be changed like that: another one would have to take its place, because of %s\n"+
			"`do` replaces nothing; create the other one and delete this one", old.ID, strings.Join(replacing, ", "))
	}
	err = c.confirm(ctx, c.op.name, fmt.Sprintf("%s %s %q:\n%s", c.will("change"), r.Token, old.ID, c.changes(old.Inputs, checked)))
	if err != nil {
		return err
	}
	var now direct.Object
	err = c.during(ctx, func(ctx context.Context) (err error) {
		now, err = c.provider.Update(ctx, r, old, checked, c.doing.flags.dryRun)
		return err
	})
	if err != nil {
		return c.explain("change", now, err)
	}
	return c.print(now)
}

func (c *doCall) remove(ctx context.Context, old direct.Object) error {
	r := c.doing.member.Resource
	if err := c.confirm(ctx, "delete", fmt.Sprintf("%s %s %q.\n", c.will("delete"), r.Token, old.ID)); err != nil || c.doing.flags.dryRun {
		return err
	}
	err := c.during(ctx, func(ctx context.Context) error { return c.provider.Delete(ctx, r, old) })
	if err != nil {
		return c.explain("delete", old, err)
	}
	if !c.doing.flags.json {
		fmt.Fprintf(c.doing.open.Terminal.Out, "Deleted %s %q.\n", r.Token, old.ID)
	}
	return nil
}

// will begins the description of a change.
func (c *doCall) will(verb string) string {
	if c.doing.flags.dryRun {
		return "This would " + verb
	}
	return "This will " + verb
}

// confirm shows what is about to happen, and asks for confirmation unless that is turned off.
func (c *doCall) confirm(ctx context.Context, operation, text string) error {
	t := c.doing.open.Terminal
	if _, err := fmt.Fprint(t.Err, c.doing.masks.Mask(text)); err != nil {
		return err
	}
	if c.doing.flags.yes || c.doing.flags.dryRun {
		return nil
	}
	confirmed, err := terminal.Confirm(ctx, t, fmt.Sprintf("Do you want to perform this %s?", operation))
	if err == nil && !confirmed {
		err = exit.Cancelledf("not confirmed; nothing was changed")
	}
	return err
}

// explain adds to an error what is known of the object. o is the object as far as it is known.
func (c *doCall) explain(verb string, o direct.Object, err error) error {
	var unhealthy *direct.UnhealthyError
	var uncertain *providers.UncertainError
	command := fmt.Sprintf("`%s %s", c.doing.cmd.CommandPath(), c.doing.token)
	switch {
	case errors.As(err, &unhealthy):
		c.learnObject(unhealthy.Object)
		return fmt.Errorf("%w\nThe object exists, with the ID %q, and is not healthy: %s read %s` shows it, and %s delete %s --stateless` deletes it",
			err, unhealthy.Object.ID, command, quoted(unhealthy.Object.ID), command, quoted(unhealthy.Object.ID))
	case verb == "create" && isCancelled(err): // however the provider ended the call
	case !errors.As(err, &uncertain) || !uncertain.Lost:
		return err
	}
	if verb == "create" {
		return fmt.Errorf("%w\nThe object may exist: its ID is not known, and nothing is recorded. Look for it with the tools of the provider%s before you create it again",
			err, c.orList(command))
	}
	return fmt.Errorf("%w\nThe outcome is not known. %s read %s` shows the object as it is now", err, command, quoted(o.ID))
}

// isCancelled reports whether err is that of a command that was cancelled.
func isCancelled(err error) bool {
	status, _ := exit.Status(err)
	return status == exit.Cancelled
}

// orList names the operation that lists objects, if the provider has it.
func (c *doCall) orList(command string) string {
	if _, can := c.doing.member.Resource.Queries(); !can {
		return ""
	}
	return ", or with " + command + " list --all`,"
}

// plain returns a value for JSON. Known secrets are masked wherever the provider has repeated them.
func (c *doCall) plain(v property.Value) any {
	return maskedTexts(&c.doing.masks, display.PlainJSON(v, c.doing.flags.showSecrets))
}

// maskedTexts masks the texts in a value for JSON.
func maskedTexts(masks *redact.Set, v any) any {
	switch v := v.(type) {
	case string:
		return masks.Mask(v)
	case []any:
		for i := range v {
			v[i] = maskedTexts(masks, v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = maskedTexts(masks, v[name])
		}
	}
	return v
}

func (c *doCall) print(o direct.Object) error {
	c.learnObject(o)
	outputs := c.doing.schema.Outputs(c.doing.member.Resource, o.Outputs)
	id := o.ID
	if id == "" {
		id = "[unknown]"
	}
	if c.doing.flags.json {
		plain := map[string]any{}
		for name, v := range outputs.All() {
			plain[name] = c.plain(v)
		}
		plain["id"] = id
		return format.JSON(c.doing.open.Terminal.Data(), plain)
	}
	text := propertiesText("Outputs", outputs.Without("id"), c.doing.flags.showSecrets)
	_, err := fmt.Fprintf(c.doing.open.Terminal.Out, "ID: %s\n%s", printable.Line(id), c.doing.masks.Mask(text))
	return err
}

// listed returns a line for each input.
func (c *doCall) listed(m property.Map) string {
	var b strings.Builder
	for name, v := range m.All() {
		if !isInternal(name) {
			fmt.Fprintf(&b, "    %s: %s\n", printable.Line(name), printable.Line(outputText(v, c.doing.flags.showSecrets)))
		}
	}
	return b.String()
}

// changes returns a line for each input that changes.
func (c *doCall) changes(old, now property.Map) string {
	var b strings.Builder
	text := func(v property.Value) string { return printable.Line(outputText(v, c.doing.flags.showSecrets)) }
	for name, v := range now.All() {
		before, had := old.Get(name)
		switch {
		case isInternal(name) || had && property.Equal(before.StripSecretsAndOutputs(), v.StripSecretsAndOutputs()):
		case had && (before.HasSecrets() || v.HasSecrets()): // what is secret now was so before
			fmt.Fprintf(&b, "  ~ %s: %s -> %s\n", printable.Line(name), text(property.MakeSecret(before)), text(property.MakeSecret(v)))
		case had:
			fmt.Fprintf(&b, "  ~ %s: %s -> %s\n", printable.Line(name), text(before), text(v))
		default:
			fmt.Fprintf(&b, "  + %s: %s\n", printable.Line(name), text(v))
		}
	}
	for name, v := range old.All() {
		if _, has := now.Get(name); !has && !isInternal(name) {
			fmt.Fprintf(&b, "  - %s: %s\n", printable.Line(name), text(v))
		}
	}
	return b.String()
}
