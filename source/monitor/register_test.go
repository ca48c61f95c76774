package monitor_test

import (
	"context"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const (
	urnA = "urn:pulumi:dev::proj::my:mod:Comp::a"
	urnB = "urn:pulumi:dev::proj::my:mod:Res::b"
)

// everything is a property map with each kind of value that a program may send.
func everything() property.Map {
	return property.NewMap(map[string]property.Value{
		"plain":   property.String("text"),
		"number":  property.Number(1.5),
		"secret":  property.Secret(property.String("hush")),
		"unknown": property.Computed(),
		"nested":  property.Of(property.NewMap(map[string]property.Value{"u": property.Computed()})),
		"ref":     property.Of(property.Reference{URN: urnB, ID: property.String("id-b")}),
	})
}

func wire(t testing.TB, m property.Map) *structpb.Struct {
	t.Helper()
	s, err := property.MarshalStruct(m, property.WireOptions{
		Unknowns: property.KeepUnknowns, KeepSecrets: true, KeepReferences: true, Outputs: property.KeepOutputs,
	})
	require.NoError(t, err)
	return s
}

func TestEveryFieldOfARegistrationArrives(t *testing.T) {
	yes, no := true, false
	m := &monitortest.Monitor{Run: run()}
	client := startAs(t, source.ServedMonitor{Monitor: m, Root: "/home/me/project"})
	output := property.OutputOf(property.Output{Element: property.String("o"), Known: true, Dependencies: []urn.URN{urnB}})
	trigger := property.Secret(property.Number(2))
	triggerWire, err := property.MarshalValue(trigger, property.WireOptions{KeepSecrets: true})
	require.NoError(t, err)

	_, err = client.RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{
		Type: "aws:s3/bucket:Bucket", Name: "n", Parent: urnA, Custom: true,
		Object:                     wire(t, everything().With("output", output)),
		Protect:                    &yes,
		RetainOnDelete:             &no,
		DeleteBeforeReplaceDefined: true,
		Dependencies:               []string{urnB, urnA},
		PropertyDependencies: map[string]*pulumirpc.RegisterResourceRequest_PropertyDependencies{
			"plain": {Urns: []string{urnB}}, "number": {},
		},
		Provider: "p::id", Providers: map[string]string{"aws": "q::id"},
		Version: "v1.2.3", PluginDownloadURL: "https://x", PluginChecksums: map[string][]byte{"linux-amd64": {9}},
		PackageRef: "ref",
		AliasURNs:  []string{urnB},
		Aliases: []*pulumirpc.Alias{
			{Alias: &pulumirpc.Alias_Urn{Urn: urnA}},
			{Alias: &pulumirpc.Alias_Spec_{Spec: &pulumirpc.Alias_Spec{
				Name: "old", Type: "t:t:T", Stack: "s", Project: "p", Parent: &pulumirpc.Alias_Spec_ParentUrn{ParentUrn: urnA},
			}}},
			{Alias: &pulumirpc.Alias_Spec_{Spec: &pulumirpc.Alias_Spec{Parent: &pulumirpc.Alias_Spec_NoParent{NoParent: true}}}},
		},
		AliasSpecs:              true,
		ImportId:                "imp",
		IgnoreChanges:           []string{"a.b"},
		ReplaceOnChanges:        []string{"*"},
		HideDiffs:               []string{"h"},
		AdditionalSecretOutputs: []string{"s"},
		CustomTimeouts:          &pulumirpc.RegisterResourceRequest_CustomTimeouts{Create: "1m", Update: "2m", Delete: "3m", Read: "4m"},
		DeletedWith:             urnB,
		ReplaceWith:             []string{urnA},
		ReplacementTrigger:      triggerWire,
		Hooks: &pulumirpc.RegisterResourceRequest_ResourceHooksBinding{
			BeforeCreate: []string{"1"}, AfterCreate: []string{"2"}, BeforeUpdate: []string{"3"}, AfterUpdate: []string{"4"},
			BeforeDelete: []string{"5"}, AfterDelete: []string{"6"}, OnError: []string{"7", "8"},
		},
		EnvVarMappings:          nil,
		SupportsResultReporting: true,
		SourcePosition:          &pulumirpc.SourcePosition{Uri: "file:///home/me/project/index.ts", Line: 3, Column: 9},
		StackTrace: &pulumirpc.StackTrace{Frames: []*pulumirpc.StackFrame{
			{Pc: &pulumirpc.SourcePosition{Uri: "file:///home/me/lib/x.ts", Line: 1}}, {},
		}},
		ParentStackTraceHandle: "handle",
	})
	require.NoError(t, err)
	require.Equal(t, []*stages.RegisterRequest{{
		Type: "aws:s3/bucket:Bucket", Name: "n", Parent: urnA, Custom: true,
		Inputs:               everything().With("output", output),
		Protect:              &yes,
		RetainOnDelete:       &no,
		DeleteBeforeReplace:  &no,
		Dependencies:         []urn.URN{urnB, urnA},
		PropertyDependencies: map[string][]urn.URN{"plain": {urnB}, "number": nil},
		Provider:             "p::id", Providers: map[string]string{"aws": "q::id"},
		Package: stages.Package{
			Name: "aws", Version: "1.2.3", DownloadURL: "https://x", Checksums: map[string][]byte{"linux-amd64": {9}},
		},
		PackageRef: "ref",
		Aliases: []urn.Alias{
			{URN: urnB}, {URN: urnA}, {Name: "old", Type: "t:t:T", Stack: "s", Project: "p", Parent: urnA}, {NoParent: true},
		},
		AliasSpecs:              true,
		ImportID:                "imp",
		IgnoreChanges:           []string{"a.b"},
		ReplaceOnChanges:        []string{"*"},
		HideDiffs:               []string{"h"},
		AdditionalSecretOutputs: []string{"s"},
		CustomTimeouts:          stages.CustomTimeouts{Create: "1m", Update: "2m", Delete: "3m", Read: "4m"},
		DeletedWith:             urnB,
		ReplaceWith:             []urn.URN{urnA},
		ReplacementTrigger:      trigger,
		Hooks: map[string][]string{
			"BeforeCreate": {"1"}, "AfterCreate": {"2"}, "BeforeUpdate": {"3"}, "AfterUpdate": {"4"},
			"BeforeDelete": {"5"}, "AfterDelete": {"6"}, "OnError": {"7", "8"},
		},
		SupportsResultReporting: true,
		SourcePosition:          "project:///index.ts#3,9",
		StackTrace:              []state.StackFrame{{SourcePosition: "project:///../lib/x.ts#1"}, {}},
		ParentStackTraceHandle:  "handle",
	}}, m.Record().Registered)
}

func TestAMinimalRegistrationLeavesEverythingElseUnset(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{Type: "pulumi:pulumi:Stack", Name: "proj-dev"})
	require.NoError(t, err)
	require.Equal(t, []*stages.RegisterRequest{{
		Type: "pulumi:pulumi:Stack", Name: "proj-dev", Package: stages.Package{Name: "pulumi"},
	}}, m.Record().Registered)
}

func TestAProviderResourceNeedsThePluginOfItsPackage(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{
		Type: "pulumi:providers:aws", Name: "p", Custom: true, Version: "6.0.0", EnvVarMappings: map[string]string{"NEW": "OLD"},
	})
	require.NoError(t, err)
	got := m.Record().Registered[0]
	require.Equal(t, stages.Package{Name: "aws", Version: "6.0.0"}, got.Package)
	require.Equal(t, map[string]string{"NEW": "OLD"}, got.EnvVarMappings)
}

func TestDeleteBeforeReplaceIsGivenWhenDefinedOrTrue(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		value, defined bool
		want           *bool
	}{
		"absent": {false, false, nil}, "true": {true, false, &yes}, "defined false": {false, true, &no}, "defined true": {true, true, &yes},
	} {
		t.Run(name, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run()}
			_, err := start(t, m).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{
				Type: "a:b:C", DeleteBeforeReplace: c.value, DeleteBeforeReplaceDefined: c.defined,
			})
			require.NoError(t, err)
			require.Equal(t, c.want, m.Record().Registered[0].DeleteBeforeReplace)
		})
	}
}

func TestRemoteComponentsGetSecretsAndUnknownsAsOutputs(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{
		Type: "a:b:C", Name: "c", Remote: true, Object: wire(t, everything()),
	})
	require.NoError(t, err)
	got := m.Record().Registered[0]
	require.True(t, got.Remote)
	require.Equal(t, everything().LiftOutputs(), got.Inputs)
}

func TestMalformedRegistrationsAreRefused(t *testing.T) {
	const bad = "urn:other"
	aliasOf := func(a *pulumirpc.Alias_Spec) []*pulumirpc.Alias {
		return []*pulumirpc.Alias{{Alias: &pulumirpc.Alias_Spec_{Spec: a}}}
	}
	signature, err := structpb.NewStruct(map[string]any{"x": map[string]any{property.SignatureKey: "what"}})
	require.NoError(t, err)
	for text, req := range map[string]*pulumirpc.RegisterResourceRequest{
		"invalid parent URN: ":                              {Type: "a:b:C", Parent: bad},
		`invalid type "a:C" of resource "x": `:              {Type: "a:C", Name: "x", Custom: true},
		`invalid type "C" of resource "x": `:                {Type: "C", Name: "x", Remote: true},
		"envVarMappings can only be used with provider res": {Type: "a:b:C", EnvVarMappings: map[string]string{"A": "B"}},
		"invalid dependency URN: ":                          {Type: "a:b:C", Dependencies: []string{urnA, bad}},
		"invalid dependency on property b URN: ": {Type: "a:b:C", PropertyDependencies: map[string]*pulumirpc.RegisterResourceRequest_PropertyDependencies{
			"d": {Urns: []string{bad}}, "c": {Urns: []string{bad}}, "b": {Urns: []string{bad}}, "a": {Urns: []string{urnA}},
		}},
		"invalid alias URN: invalid URN: empty":           {Type: "a:b:C", AliasURNs: []string{""}},
		"invalid alias URN: ":                             {Type: "a:b:C", Aliases: []*pulumirpc.Alias{{Alias: &pulumirpc.Alias_Urn{Urn: bad}}}},
		"invalid parent alias URN: ":                      {Type: "a:b:C", Aliases: aliasOf(&pulumirpc.Alias_Spec{Parent: &pulumirpc.Alias_Spec_ParentUrn{ParentUrn: bad}})},
		"invalid DeletedWith URN: ":                       {Type: "a:b:C", DeletedWith: bad},
		"invalid ReplaceWith URN: ":                       {Type: "a:b:C", ReplaceWith: []string{bad}},
		"invalid callback: it needs a target and a token": {Type: "a:b:C", Transforms: []*pulumirpc.Callback{{Target: "127.0.0.1:1"}}},
		"x": {Type: "a:b:C", Object: signature},
		"invalid parent URN: invalid URN \"urn:other\": it must be": {Type: "", Parent: bad, DeletedWith: bad, Custom: true},
	} {
		t.Run(text, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run()}
			_, err := start(t, m).RegisterResource(context.Background(), req)
			require.Equal(t, codes.InvalidArgument, status.Code(err))
			require.Contains(t, status.Convert(err).Message(), text)
			require.Empty(t, m.Record().Registered)
		})
	}
}

func TestTheNodeJSSDKIsRecognized(t *testing.T) {
	for name, c := range map[string]struct {
		agent   string
		runtime string
		want    bool
	}{
		"metadata":           {"", "nodejs", true},
		"user agent":         {"grpc-node-js/1.9.0", "", true},
		"other metadata":     {"grpc-node-js/1.9.0", "bun", false},
		"another user agent": {"grpc-go", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run()}
			conn := dial(t, address(t, serve(t, source.ServedMonitor{Monitor: m})), grpc.WithUserAgent(c.agent))
			ctx := context.Background()
			if c.runtime != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "pulumi-runtime", c.runtime)
			}
			_, err := pulumirpc.NewResourceMonitorClient(conn).RegisterResource(ctx, &pulumirpc.RegisterResourceRequest{Type: "a:b:C"})
			require.NoError(t, err)
			require.Equal(t, c.want, m.Record().Registered[0].IsNodeJS)
		})
	}
}

func TestRepliesHaveTheShapeThatTheCallerAskedFor(t *testing.T) {
	reply := &stages.RegisterReply{
		URN: urnB, ID: "the-id", Outputs: everything(), PropertyDependencies: map[string][]urn.URN{"plain": {urnA}},
	}
	plain := map[string]any{"plain": "text", "number": 1.5}
	full := wire(t, everything()).AsMap()
	for name, c := range map[string]struct {
		req  *pulumirpc.RegisterResourceRequest
		want map[string]any
	}{
		"nothing": {
			&pulumirpc.RegisterResourceRequest{},
			map[string]any{"plain": "text", "number": 1.5, "secret": "hush", "ref": "id-b"},
		},
		"secrets": {
			&pulumirpc.RegisterResourceRequest{AcceptSecrets: true},
			map[string]any{"plain": "text", "number": 1.5, "secret": full["secret"], "ref": "id-b"},
		},
		"references": {
			&pulumirpc.RegisterResourceRequest{AcceptResources: true},
			map[string]any{"plain": "text", "number": 1.5, "secret": "hush", "ref": full["ref"]},
		},
		"partial": {
			&pulumirpc.RegisterResourceRequest{SupportsPartialValues: true},
			map[string]any{
				"plain": "text", "number": 1.5, "secret": "hush", "ref": "id-b",
				"unknown": urn.UnknownID, "nested": map[string]any{"u": urn.UnknownID},
			},
		},
		"all": {
			&pulumirpc.RegisterResourceRequest{AcceptSecrets: true, AcceptResources: true, SupportsPartialValues: true}, full,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run(), OnRegister: func(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error) {
				return reply, nil
			}}
			c.req.Type = "a:b:C"
			got, err := start(t, m).RegisterResource(context.Background(), c.req)
			require.NoError(t, err)
			require.Equal(t, urnB, got.GetUrn())
			require.Equal(t, "the-id", got.GetId())
			require.Equal(t, c.want, got.GetObject().AsMap())
			require.Subset(t, got.GetObject().AsMap(), plain)
			require.Equal(t, []string{urnA}, got.GetPropertyDependencies()["plain"].GetUrns())
			require.Equal(t, pulumirpc.Result_SUCCESS, got.GetResult())
			require.False(t, got.GetUnknown())
		})
	}
}

// Callers that understand references know the resource without its ID, which is empty then (protocol.md 2.1). For others, the ID is the value.
func TestReferencesWithUnknownIDsAreInRepliesToThoseWhoUnderstandReferences(t *testing.T) {
	reply := &stages.RegisterReply{URN: urnB, Outputs: property.NewMap(map[string]property.Value{
		"ref": property.Of(property.Reference{URN: urnA, ID: property.Computed()}), "plain": property.String("text"),
	})}
	for name, c := range map[string]struct {
		references, partial bool
		want                any
	}{
		"neither":    {false, false, nil},
		"partial":    {false, true, urn.UnknownID},
		"references": {true, false, ""},
		"both":       {true, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run(), OnRegister: func(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error) {
				return reply, nil
			}}
			got, err := start(t, m).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{
				Type: "a:b:C", AcceptResources: c.references, SupportsPartialValues: c.partial,
			})
			require.NoError(t, err)
			object := got.GetObject().AsMap()
			require.Equal(t, "text", object["plain"])
			ref := object["ref"]
			if c.references {
				require.Equal(t, urnA, ref.(map[string]any)["urn"])
				ref = ref.(map[string]any)["id"]
			}
			require.Equal(t, c.want, ref)
		})
	}
}

func TestAComponentIsAnsweredWithAnEmptyObject(t *testing.T) {
	got, err := start(t, &monitortest.Monitor{Run: run()}).RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{Type: "c"})
	require.NoError(t, err)
	require.NotNil(t, got.GetObject())
	require.Empty(t, got.GetObject().GetFields())
	require.Empty(t, got.GetId())
}

func TestFailuresAreReportedAsResultsToThoseWhoUnderstandThem(t *testing.T) {
	for name, result := range map[string]stages.Result{"fail": stages.Fail, "skip": stages.Skip} {
		t.Run(name, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run(), OnRegister: func(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error) {
				return &stages.RegisterReply{URN: urnB, Result: result}, nil
			}}
			client := start(t, m)
			got, err := client.RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{Type: "a:b:C", SupportsResultReporting: true})
			require.NoError(t, err)
			require.EqualValues(t, result, got.GetResult())
			_, err = client.RegisterResource(context.Background(), &pulumirpc.RegisterResourceRequest{Type: "a:b:C"})
			require.Equal(t, codes.Internal, status.Code(err))
			require.Equal(t, "resource registration failed", status.Convert(err).Message())
		})
	}
}

// Older SDKs of Node.js read only the result. After a success that is no preview, they take unknown and missing outputs for undefined.
func TestOutputsThatAreNotKnownAreUnknownForNodeJS(t *testing.T) {
	const node = "grpc-node-js/1.9.0"
	custom := &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Custom: true, SupportsResultReporting: true}
	remote := &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Remote: true, SupportsResultReporting: true, SupportsPartialValues: true}
	notMade := &stages.RegisterReply{URN: urnB, Unknown: true}
	partly := &stages.RegisterReply{URN: urnB, Outputs: property.NewMap(map[string]property.Value{"a": property.Computed()})}
	skip := pulumirpc.Result(stages.Skip)
	tests := map[string]struct {
		agent  string
		dryRun bool
		req    *pulumirpc.RegisterResourceRequest
		reply  *stages.RegisterReply
		want   pulumirpc.Result
	}{
		"an SDK that reads the mark":             {"", false, custom, notMade, pulumirpc.Result_SUCCESS},
		"Node.js":                                {node, false, custom, notMade, skip},
		"the same in a preview":                  {node, true, custom, notMade, pulumirpc.Result_SUCCESS},
		"a component of Node.js":                 {node, false, &pulumirpc.RegisterResourceRequest{Type: "a:b:C", SupportsResultReporting: true}, notMade, pulumirpc.Result_SUCCESS},
		"an SDK of Node.js that reads no result": {node, false, &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Custom: true}, notMade, pulumirpc.Result_SUCCESS},
		"outputs of a remote component":          {node, false, remote, partly, skip},
		"those in a preview":                     {node, true, remote, partly, pulumirpc.Result_SUCCESS},
		"those for another SDK":                  {"", false, remote, partly, pulumirpc.Result_SUCCESS},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			info := run()
			info.DryRun = c.dryRun
			m := &monitortest.Monitor{Run: info, OnRegister: func(context.Context, *stages.RegisterRequest) (*stages.RegisterReply, error) {
				return c.reply, nil
			}}
			conn := dial(t, address(t, serve(t, source.ServedMonitor{Monitor: m})), grpc.WithUserAgent(c.agent))
			got, err := pulumirpc.NewResourceMonitorClient(conn).RegisterResource(context.Background(), c.req)
			require.NoError(t, err)
			require.Equal(t, c.reply.Unknown, got.GetUnknown())
			require.Equal(t, c.want, got.GetResult())
		})
	}
}

func TestEveryFieldOfAReadArrives(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	client := startAs(t, source.ServedMonitor{Monitor: m, Root: "/p"})
	got, err := client.ReadResource(context.Background(), &pulumirpc.ReadResourceRequest{
		Id: "i", Type: "aws:ec2:Vpc", Name: "n", Parent: urnA, Properties: wire(t, everything()), Dependencies: []string{urnB},
		Provider: "p::id", Version: "1.0.0", AcceptSecrets: true, AdditionalSecretOutputs: []string{"s"},
		PluginDownloadURL: "https://x", PluginChecksums: map[string][]byte{"linux-amd64": {9}}, PackageRef: "ref",
		SourcePosition:         &pulumirpc.SourcePosition{Uri: "file:///p/a.ts", Line: 1},
		StackTrace:             &pulumirpc.StackTrace{Frames: []*pulumirpc.StackFrame{{Pc: &pulumirpc.SourcePosition{Uri: "file:///p/b.ts", Line: 2}}}},
		ParentStackTraceHandle: "handle",
	})
	require.NoError(t, err)
	require.Equal(t, []*stages.ReadRequest{{
		ID: property.String("i"), Type: "aws:ec2:Vpc", Name: "n", Parent: urnA, Properties: everything(), Dependencies: []urn.URN{urnB},
		Provider: "p::id", AdditionalSecretOutputs: []string{"s"}, PackageRef: "ref",
		Package:                stages.Package{Name: "aws", Version: "1.0.0", DownloadURL: "https://x", Checksums: map[string][]byte{"linux-amd64": {9}}},
		SourcePosition:         "project:///a.ts#1",
		StackTrace:             []state.StackFrame{{SourcePosition: "project:///b.ts#2"}},
		ParentStackTraceHandle: "handle",
	}}, m.Record().Reads)
	require.Equal(t, string(m.URN("aws:ec2:Vpc", "n", urnA)), got.GetUrn())
	full := wire(t, everything()).AsMap()
	full["ref"] = "id-b"
	require.Equal(t, full, got.GetProperties().AsMap())
}

func TestReadsThatFailedAreAnsweredWithoutOutputs(t *testing.T) {
	for name, result := range map[string]stages.Result{"fail": stages.Fail, "skip": stages.Skip} {
		t.Run(name, func(t *testing.T) {
			m := &monitortest.Monitor{Run: run(), OnRead: func(context.Context, *stages.ReadRequest) (*stages.RegisterReply, error) {
				return &stages.RegisterReply{URN: urnB, Result: result}, nil
			}}
			got, err := start(t, m).ReadResource(context.Background(), &pulumirpc.ReadResourceRequest{Type: "a:b:C", Id: "i"})
			require.NoError(t, err)
			require.Equal(t, urnB, got.GetUrn())
			require.Empty(t, got.GetProperties().GetFields())
			require.Equal(t, result == stages.Fail, got.GetResult() == pulumirpc.Result_FAIL)
			require.Equal(t, result == stages.Skip, got.GetUnknown())
		})
	}
}

func TestAReadWithAnUnknownID(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	_, err := start(t, m).ReadResource(context.Background(), &pulumirpc.ReadResourceRequest{Type: "a:b:C", Id: urn.UnknownID})
	require.NoError(t, err)
	require.Equal(t, property.Computed(), m.Record().Reads[0].ID)
}

func TestMalformedReadsAreRefused(t *testing.T) {
	for text, req := range map[string]*pulumirpc.ReadResourceRequest{
		`invalid type "C" of resource "x": `: {Type: "C", Name: "x"},
		"invalid parent URN: ":               {Type: "a:b:C", Parent: "x"},
		"invalid dependency URN: ":           {Type: "a:b:C", Dependencies: []string{"x"}},
	} {
		_, err := start(t, &monitortest.Monitor{Run: run()}).ReadResource(context.Background(), req)
		require.Equal(t, codes.InvalidArgument, status.Code(err))
		require.Contains(t, status.Convert(err).Message(), text)
	}
}

func TestStackOutputsArrive(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	client := start(t, m)
	_, err := client.RegisterResourceOutputs(context.Background(), &pulumirpc.RegisterResourceOutputsRequest{Urn: urnA, Outputs: wire(t, everything())})
	require.NoError(t, err)
	require.Equal(t, map[urn.URN]property.Map{urnA: everything()}, m.Record().Outputs)
	_, err = client.RegisterResourceOutputs(context.Background(), &pulumirpc.RegisterResourceOutputsRequest{Urn: "x"})
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}

// In previews, Node.js marks whole resources in the outputs of a stack.
func TestMarksOfWholeResourcesInStackOutputsAreLeftOut(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	client := start(t, m)
	one := property.String("1")
	resource := property.NewMap(map[string]property.Value{"id": one})
	marked := resource.With("@isPulumiResource", property.Bool(true))
	list := func(m property.Map) property.Value { return property.Secret(property.ArrayOf(property.Of(m), one)) }
	_, err := client.RegisterResourceOutputs(context.Background(), &pulumirpc.RegisterResourceOutputsRequest{
		Urn: urnA, Outputs: wire(t, marked.With("list", list(marked)).With("in", property.Of(marked.With("deep", property.Of(marked))))),
	})
	require.NoError(t, err)
	want := resource.With("list", list(resource)).With("in", property.Of(resource.With("deep", property.Of(resource))))
	require.Equal(t, map[urn.URN]property.Map{urnA: want}, m.Record().Outputs)
}

// Inputs whose outputs carry the dependencies exclude a list of dependencies.
func TestInputsThatCarryTheirDependencies(t *testing.T) {
	m := &monitortest.Monitor{Run: run()}
	client := start(t, m)
	req := &pulumirpc.RegisterResourceRequest{Type: "a:b:C", Name: "n", Custom: true, UsesOutputValues: true, Dependencies: []string{urnA}}
	_, err := client.RegisterResource(context.Background(), req)
	require.NoError(t, err)
	require.True(t, m.Record().Registered[0].CarriesDependencies)
	req.PropertyDependencies = map[string]*pulumirpc.RegisterResourceRequest_PropertyDependencies{"a": {Urns: []string{urnB}}}
	_, err = client.RegisterResource(context.Background(), req)
	require.Equal(t, codes.InvalidArgument, status.Code(err))
}
