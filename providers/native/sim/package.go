package sim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/urn"
)

// Name is the package's name, and Type the type of its resource.
const (
	Name          = "sim"
	Type urn.Type = "sim:index:Resource"
)

// Package describes the package, with a cloud that its configuration chooses.
func Package(o native.Options) native.Package { return In(nil, o) }

// In is like Package, with the caller's cloud; nil lets the configuration choose.
func In(cloud *Cloud, o native.Options) native.Package {
	s := &simulation{cloud: cloud, weather: &weather{}, options: o}
	if s.cloud == nil {
		s.cloud = NewCloud()
	}
	chosen := cloud == nil
	return native.Package{
		Name: Name, Doc: "Make-believe resources, for benchmarks, demonstrations and tests.",
		Config: settings(),
		Configure: func(_ context.Context, config native.Values) (err error) {
			if dir := config.Text("directory"); chosen && dir != "" {
				if s.cloud, err = OpenCloud(o.Path(dir)); err != nil {
					return err
				}
			}
			s.replaceOn, s.deleteFirst = config.Texts("replaceOn"), config.Bool("deleteBeforeReplace")
			s.weather, err = readWeather(config)
			return err
		},
		Resources: []native.Resource{s.resource()},
		Enter: func(ctx context.Context, m providers.Method, c native.Call) error {
			return s.weather.strike(ctx, s.cloud, m, c)
		},
	}
}

func settings() []native.Field {
	text, number := native.Of(native.KindString), native.Of(native.KindNumber)
	return []native.Field{
		{Name: "callsPerSecond", Type: number, Doc: "How many calls the cloud takes in a second; any number by default."},
		{Name: "deleteBeforeReplace", Type: native.Of(native.KindBoolean), Doc: "Whether replacements delete first."},
		{Name: "directory", Type: text, Doc: "Where the cloud is; in memory by default."},
		{Name: "driftRate", Type: number, Doc: "The share of resources, from 0 to 1, that a read finds changed."},
		{Name: "failureRate", Type: native.MapOf(number), Doc: "The share of calls, from 0 to 1, that fail, by method; * is any other."},
		{Name: "latency", Type: native.MapOf(text), Doc: "How long calls take, by method; * is any other. 50ms, uniform 10ms 90ms, normal 50ms 10ms, exponential 50ms."},
		{Name: "replaceOn", Type: native.ArrayOf(text), Doc: "Names of properties whose change replaces every resource."},
		{Name: "seed", Type: text, Doc: "Another seed gives another latency, other failures and another drift. With random, each run has latencies of its own."},
		{Name: "throttling", Type: native.Type{Kind: native.KindString, Enum: []string{"wait", "fail"}}, Doc: "What happens to calls that are too many: wait, the default, or fail."},
	}
}

type simulation struct {
	cloud       *Cloud
	weather     *weather
	options     native.Options
	replaceOn   []string
	deleteFirst bool
}

func (s *simulation) resource() native.Resource {
	texts := native.ArrayOf(native.Of(native.KindString))
	return native.Resource{
		Type: Type, Doc: "A make-believe resource.",
		Inputs: []native.Field{
			{Name: "computed", Type: texts, Doc: "Names of values that the cloud makes up."},
			{Name: "fail", Type: texts, Doc: "Methods that always fail for this resource: create, update, delete."},
			{Name: "id", Type: native.Of(native.KindString), Replace: true, Doc: "The ID; made up by default."},
			{Name: "properties", Type: native.MapOf(native.Of(native.KindAny)), Doc: "Any properties."},
			{Name: "replaceOn", Type: texts, Doc: "Names of properties whose change replaces this resource."},
		},
		Computed: []native.Field{
			{Name: "generation", Type: native.Of(native.KindInteger), Required: true, Derived: true, Doc: "1 when made, one more with every change."},
			{Name: "values", Type: native.MapOf(native.Of(native.KindString)), Required: true, Derived: true, Doc: "The computed values."},
		},
		Diff: s.diff, Create: s.create, Update: s.update, Read: s.read, Import: s.importOne,
		Delete: func(_ context.Context, c native.Call) error {
			if err := fails(c, "delete"); err != nil {
				return err
			}
			return s.cloud.Delete(c.ID)
		},
	}
}

func fails(c native.Call, method string) error {
	if slices.Contains(c.Inputs.Texts("fail"), method) {
		return fmt.Errorf("simulated failure of %s: the resource asks for it", method)
	}
	return nil
}

// diff turns a change of a listed property into a replacement. Properties that are unknown as a whole may change any of
// the old ones. An ID that the object has already is no change: objects that are imported, or adopted after an interrupted
// create, are recorded without it.
func (s *simulation) diff(c native.Call, answer *providers.DiffResponse) {
	if c.Inputs.Text("id") == c.ID {
		drop := func(key string) bool { return key == "id" }
		answer.ChangedKeys = slices.DeleteFunc(answer.ChangedKeys, drop)
		answer.ReplaceKeys = slices.DeleteFunc(answer.ReplaceKeys, drop)
		delete(answer.DetailedDiff, "id")
		if len(answer.ChangedKeys) == 0 {
			answer.Changes = providers.DiffNone
		}
	}
	listed := append(slices.Clone(s.replaceOn), c.Inputs.Texts("replaceOn")...)
	unknown := c.Inputs.Value("properties").IsUnknown() && slices.ContainsFunc(listed, c.State.Object("properties").Has)
	for path, d := range answer.DetailedDiff {
		p, err := property.ParsePath(path)
		if err != nil || len(p) == 0 || p[:1].String() != "properties" {
			continue
		}
		if !unknown && (len(p) == 1 || !slices.Contains(listed, p[1:2].String())) {
			continue
		}
		answer.DetailedDiff[path] = providers.PropertyDiff{Kind: d.Kind.AsReplace(), InputDiff: d.InputDiff}
		if !slices.Contains(answer.ReplaceKeys, "properties") {
			answer.ReplaceKeys = append(answer.ReplaceKeys, "properties")
		}
	}
	answer.DeleteBeforeReplace = s.deleteFirst && len(answer.ReplaceKeys) > 0
}

func outputs(r Record) native.Outputs {
	values := native.Outputs{}
	for _, name := range r.Computed {
		values[name] = native.Text(fmt.Sprintf("%s-%s-%d", name, r.ID, r.Generation))
	}
	return native.Outputs{"generation": native.Int(r.Generation), "values": native.Object(values)}
}

func (s *simulation) create(ctx context.Context, c native.Call) (native.Made, error) {
	if err := fails(c, "create"); err != nil {
		return native.Made{}, err
	}
	id := c.Inputs.Text("id")
	if id == "" {
		b := make([]byte, 6)
		if _, err := rand.Read(b); err != nil {
			return native.Made{}, err
		}
		id = "sim-" + hex.EncodeToString(b)
	} else if _, taken, err := s.cloud.Get(ctx, id); taken || err != nil {
		return native.Made{}, errors.Join(err, fmt.Errorf("a resource with the ID %q exists already", id))
	}
	r := Record{ID: id, Name: c.Name, Generation: 1, Computed: c.Inputs.Texts("computed"), Properties: c.Inputs.Value("properties").AsMap()}
	return native.Made{ID: id, Outputs: outputs(r)}, s.cloud.Put(ctx, r)
}

func (s *simulation) update(ctx context.Context, c native.Call) (native.Outputs, error) {
	if err := fails(c, "update"); err != nil {
		return nil, err
	}
	r, ok, err := s.cloud.Get(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	if !ok && !s.cloud.adopts(c.ID) {
		return nil, fmt.Errorf("there is no resource with the ID %q", c.ID)
	}
	if !ok {
		r = Record{ID: c.ID, Generation: c.State.Int("generation")}
	}
	r = Record{ID: c.ID, Name: c.Name, Generation: r.Generation + 1, Computed: c.Inputs.Texts("computed"), Properties: c.Inputs.Value("properties").AsMap()}
	return outputs(r), s.cloud.Put(ctx, r)
}

func (s *simulation) read(ctx context.Context, c native.Call) (native.Found, error) {
	r, ok, err := s.cloud.Get(ctx, c.ID)
	if err != nil {
		return native.Found{}, err
	}
	if !ok && s.cloud.adopts(c.ID) {
		r = Record{ID: c.ID, Name: c.Name, Generation: c.State.Int("generation"), Computed: c.Inputs.Texts("computed"), Properties: c.State.Value("properties").AsMap()}
		ok, err = true, s.cloud.Put(ctx, r)
	}
	if !ok || err != nil {
		return native.Found{Absent: true}, err
	}
	if s.weather.drift > 0 && s.weather.dice("drift", string(c.URN), fmt.Sprint(r.Generation)).Float64() < s.weather.drift {
		r.Generation++
		r.Properties = r.Properties.With("drifted", property.Number(float64(r.Generation)))
		if err := s.cloud.Put(ctx, r); err != nil {
			return native.Found{}, err
		}
	}
	found := native.Found{Outputs: native.Outputs{}}
	if !property.Equal(property.Of(r.Properties), property.Of(c.State.Value("properties").AsMap())) {
		found.Outputs["properties"] = property.Of(r.Properties)
	}
	if r.Generation != c.State.Int("generation") {
		r.Computed = c.Inputs.Texts("computed") // a file written by hand need not name them
		for name, v := range outputs(r) {
			found.Outputs[name] = v
		}
	}
	return found, nil
}

func (s *simulation) importOne(ctx context.Context, c native.Call) (native.Made, error) {
	r, ok, err := s.cloud.Get(ctx, c.ID)
	if err != nil || !ok {
		return native.Made{}, err
	}
	out := outputs(r)
	out["properties"] = property.Of(r.Properties)
	if len(r.Computed) > 0 {
		out["computed"] = native.Texts(r.Computed)
	}
	return native.Made{ID: r.ID, Outputs: out}, nil
}
