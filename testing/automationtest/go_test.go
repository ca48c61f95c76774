package automationtest

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

type thing struct {
	pulumi.CustomResourceState
	Value pulumi.AnyOutput `pulumi:"value"`
}

// declare is an inline program: a resource with the settings as its value.
func declare(ctx *pulumi.Context) error {
	var a thing
	err := ctx.RegisterResource("simple:index:Thing", "a", pulumi.Map{"value": pulumi.String(config.Require(ctx, "size"))}, &a)
	ctx.Export("value", a.Value)
	ctx.Export("password", config.RequireSecret(ctx, "password"))
	return err
}

// collected returns a channel for events, and a function that returns them when the operation is over.
func collected() (chan<- events.EngineEvent, func() []events.EngineEvent) {
	stream, all := make(chan events.EngineEvent), []events.EngineEvent(nil)
	var reader conc.WaitGroup
	reader.Go(func() {
		for e := range stream {
			all = append(all, e)
		}
	})
	return stream, func() []events.EngineEvent { reader.Wait(); return all }
}

func TestProgramsInGoDriveTheAutomationAPI(t *testing.T) {
	dir := environment(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := auto.NewStackInlineSource(ctx, "dev", "inline", declare)
	require.NoError(t, err)
	w := s.Workspace()

	t.Run("settings", func(t *testing.T) {
		require.NoError(t, s.SetConfig(ctx, "simple:directory", auto.ConfigValue{Value: filepath.Join(dir, "cloud")}))
		require.NoError(t, s.SetAllConfig(ctx, auto.ConfigMap{"size": {Value: "1"}, "password": {Value: "hush", Secret: true}}))
		require.NoError(t, s.SetAllConfigJson(ctx, `{"inline:list": {"value": "[1]", "objectValue": [1]}}`, nil))
		all, err := s.GetAllConfig(ctx)
		require.NoError(t, err)
		require.Equal(t, auto.ConfigValue{Value: "hush", Secret: true}, all["inline:password"])
		require.Equal(t, "[1]", all["inline:list"].Value)
		size, err := s.GetConfig(ctx, "size")
		require.NoError(t, err)
		require.Equal(t, auto.ConfigValue{Value: "1"}, size)
		require.NoError(t, s.RemoveConfig(ctx, "list"))
	})

	plan := filepath.Join(dir, "plan.json")
	t.Run("preview", func(t *testing.T) {
		stream, all := collected()
		r, err := s.Preview(ctx, optpreview.EventStreams(stream), optpreview.Plan(plan))
		require.NoError(t, err)
		require.Equal(t, map[apitype.OpType]int{apitype.OpCreate: 2}, r.ChangeSummary)
		require.NotEmpty(t, all())
	})

	t.Run("up", func(t *testing.T) {
		var shown bytes.Buffer
		stream, all := collected()
		r, err := s.Up(ctx, optup.ProgressStreams(&shown), optup.EventStreams(stream), optup.Plan(plan), optup.Message("the first"))
		require.NoError(t, err)
		require.Equal(t, auto.OutputMap{"value": {Value: "1"}, "password": {Value: "hush", Secret: true}}, r.Outputs)
		require.Equal(t, "update", r.Summary.Kind)
		require.Equal(t, "succeeded", r.Summary.Result)
		require.Equal(t, map[string]int{"create": 2}, *r.Summary.ResourceChanges)
		require.Equal(t, "auto.inline", r.Summary.Environment["exec.kind"])
		require.Contains(t, shown.String(), "Updating (dev)")
		require.NotContains(t, shown.String(), "hush")
		var made []string
		list := all()
		for _, e := range list {
			if e.ResOutputsEvent != nil && e.ResOutputsEvent.Metadata.Op == apitype.OpCreate {
				made = append(made, e.ResOutputsEvent.Metadata.Type)
			}
		}
		require.Contains(t, made, "simple:index:Thing")
		require.NotNil(t, list[len(list)-1].CancelEvent, "the last event says that there are no more")
	})

	t.Run("a plan that does not allow what is to be done", func(t *testing.T) {
		require.NoError(t, s.SetConfig(ctx, "size", auto.ConfigValue{Value: "2"}))
		_, err := s.Up(ctx, optup.Plan(plan))
		require.ErrorContains(t, err, "plan")
		_, err = s.Preview(ctx, optpreview.ExpectNoChanges())
		require.Error(t, err)
	})

	t.Run("refresh, states and tags", func(t *testing.T) {
		r, err := s.Refresh(ctx)
		require.NoError(t, err)
		require.Equal(t, "refresh", r.Summary.Kind)
		exported, err := s.Export(ctx)
		require.NoError(t, err)
		require.Contains(t, string(exported.Deployment), "simple:index:Thing")
		require.NoError(t, s.Import(ctx, exported))
		require.NoError(t, s.SetTag(ctx, "team", "blue"))
		tags, err := s.ListTags(ctx)
		require.NoError(t, err)
		require.Equal(t, "blue", tags["team"])
		history, err := s.History(ctx, 10, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"refresh", "failed", `"the first"`}, []string{history[0].Kind, history[1].Result, history[2].Message})
		who, err := w.WhoAmIDetails(ctx)
		require.NoError(t, err)
		require.NotEmpty(t, who.User)
	})

	t.Run("errors", func(t *testing.T) {
		_, err := auto.NewStackInlineSource(ctx, "dev", "inline", declare)
		require.True(t, auto.IsCreateStack409Error(err), "%v", err)
		_, err = auto.SelectStackInlineSource(ctx, "nothere", "inline", declare)
		require.True(t, auto.IsSelectStack404Error(err), "%v", err)
		broken, err := auto.UpsertStackInlineSource(ctx, "broken", "inline", func(*pulumi.Context) error { return errors.New("I am broken") })
		require.NoError(t, err)
		r, err := broken.Up(ctx)
		require.True(t, auto.IsRuntimeError(err), "%v%s", err, r.StdOut)
		require.ErrorContains(t, err, "I am broken")
		require.NoError(t, broken.Workspace().RemoveStack(ctx, "broken"))
	})

	t.Run("concurrent updates and cancellation", func(t *testing.T) {
		begun, first := make(chan struct{}), make(chan error, 1)
		running, interrupt := context.WithCancel(ctx)
		w.SetProgram(func(c *pulumi.Context) error {
			close(begun)
			<-running.Done()
			return nil
		})
		go func() { _, err := s.Up(running); first <- err }()
		<-begun
		other, err := auto.SelectStackInlineSource(ctx, "dev", "inline", declare)
		require.NoError(t, err)
		_, err = other.Up(ctx)
		require.True(t, auto.IsConcurrentUpdateError(err), "%v", err)
		require.NoError(t, other.Cancel(ctx))
		interrupt()
		require.Error(t, <-first)
		w.SetProgram(declare)
		_, err = s.Up(ctx)
		require.NoError(t, err, "the stack is not locked, and its state is whole")
	})

	t.Run("a local program", func(t *testing.T) {
		local, err := auto.UpsertStackLocalSource(ctx, "dev", filepath.Join(dir, "local"))
		require.NoError(t, err)
		r, err := local.Up(ctx)
		require.NoError(t, err)
		require.Equal(t, "hello", r.Outputs["greeting"].Value)
		_, err = local.Destroy(ctx, optdestroy.Remove())
		require.NoError(t, err)
	})

	t.Run("destroy", func(t *testing.T) {
		require.ErrorContains(t, w.RemoveStack(ctx, "dev"), "still has resources; removal rejected")
		stream, all := collected()
		r, err := s.Destroy(ctx, optdestroy.EventStreams(stream))
		require.NoError(t, err)
		require.Equal(t, "destroy", r.Summary.Kind)
		require.NotEmpty(t, all())
		list, err := w.ListStacks(ctx)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, "dev", list[0].Name)
		require.NoError(t, w.RemoveStack(ctx, "dev"))
		list, err = w.ListStacks(ctx)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}
