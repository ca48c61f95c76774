package protocoltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scenario is a file in testdata/scenarios.
type scenario struct {
	About string `json:"about"`
	Steps []step `json:"steps"`
}

// step is an operation on the stack.
type step struct {
	Op       string            `json:"op"`       // preview, up, refresh, destroy
	Flags    []string          `json:"flags"`    // more flags
	Expect   string            `json:"expect"`   // ok or fail; "" if it differs from the reference's, with a reason in accept.yaml
	Config   map[string]string `json:"config"`   // settings made before
	Program  []request         `json:"program"`  // nil: that of the step before
	Provider []behavior        `json:"provider"` // in this step; the first that fits counts
}

// request is a call that a program makes. They run one after the other, after the registration of the stack, whose answer has the name "stack". The
// first error ends the program, unless it is named in Fails.
type request struct {
	As    string         `json:"as"`    // the name for references: "${as.urn}", "${as.object.x}"
	Call  string         `json:"call"`  // the method
	Send  map[string]any `json:"send"`  // the request, with the defaults of an SDK (see defaults)
	Fails bool           `json:"fails"` // an error is what is wanted, and the program goes on
	Only  string         `json:"only"`  // "preview" or "update": not sent otherwise

	// Answers are those of the callback that the request registers, one for each time that the engine calls it; the last one stays.
	Answers []map[string]any `json:"answers"`

	// Migrations are the state migrations of a registration.
	Migrations []stateMigration `json:"migrations"`
}

// stateMigration edits recorded states by the names of their resources. It leaves states as they are in which nothing is to be edited.
type stateMigration struct {
	Rename map[string]string         `json:"rename"` // new names
	Move   map[string]string         `json:"move"`   // new URNs
	Fold   map[string]string         `json:"fold"`   // resources that are dropped, and the names of their successors
	Set    map[string]map[string]any `json:"set"`    // members
	Add    []map[string]any          `json:"add"`
	Drop   []string                  `json:"drop"` // without a successor
	Fails  bool                      `json:"fails"`
}

// apply returns the edited states and the successors, nil if nothing is to be edited.
func (m stateMigration) apply(states []map[string]any) (next []map[string]any, successors map[string]string) {
	byName := map[string]map[string]any{}
	for _, s := range states {
		byName[nameOf(s["urn"].(string))] = s
	}
	successors = map[string]string{}
	changed := false
	move := func(name, urn string) {
		if s := byName[name]; s != nil && s["urn"] != urn {
			successors[s["urn"].(string)], s["urn"], changed = urn, urn, true
		}
	}
	for name, values := range m.Set {
		for member, value := range values {
			if s := byName[name]; s != nil && !reflect.DeepEqual(s[member], value) {
				s[member], changed = value, true
			}
		}
	}
	for name, now := range m.Rename {
		if s := byName[name]; s != nil {
			move(name, strings.TrimSuffix(s["urn"].(string), name)+now)
		}
	}
	for name, urn := range m.Move {
		move(name, urn)
	}
	for _, s := range m.Add {
		if byName[nameOf(s["urn"].(string))] == nil {
			states, changed = append(states, s), true
		}
	}
	drop := func(name string) {
		if gone := byName[name]; gone != nil {
			states, changed = slices.DeleteFunc(states, func(s map[string]any) bool { return s["urn"] == gone["urn"] }), true
		}
	}
	for name, into := range m.Fold {
		if gone := byName[name]; gone != nil {
			successors[gone["urn"].(string)] = byName[into]["urn"].(string)
		}
		drop(name)
	}
	for _, name := range m.Drop {
		drop(name)
	}
	if !changed {
		return nil, nil
	}
	return states, successors
}

// behavior is what the provider does in place of its usual answer.
type behavior struct {
	Method string         `json:"method"`
	Name   string         `json:"name"` // of the resource, or the token; "" fits all
	ID     string         `json:"id"`   // of what is read; "" fits all
	Answer map[string]any `json:"answer"`
	Error  *failure       `json:"error"`
	Times  int            `json:"times"` // 0: always
}

// failure is an error of the provider.
type failure struct {
	Message string         `json:"message"`
	Init    map[string]any `json:"init"`  // an ErrorResourceInitFailed
	Await   bool           `json:"await"` // an ErrorResourceAwaitFailed
}

func readScenario(t *testing.T, path string) scenario {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var s scenario
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&s), path)
	return s
}

// outcome is what one step did.
type outcome struct {
	Op      string           `json:"op"`
	Status  int              `json:"status"` // of the command; other statuses than 0 and those of Await are compared as 1
	Program []map[string]any `json:"program,omitempty"`
	Calls   []map[string]any `json:"calls,omitempty"`
	Failed  []map[string]any `json:"failed,omitempty"` // the events of steps that failed
	State   map[string]any   `json:"state,omitempty"`
}

// lines returns the parts of an outcome that are compared, each with the name of its field. The order of a program is compared, so its lines are
// numbered.
func (o outcome) lines(number int) []string {
	var out []string
	add := func(field string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		out = append(out, fmt.Sprintf("step %d (%s): %s: %s", number, o.Op, field, text))
	}
	add("status", o.Status)
	for i, entry := range o.Program {
		add(fmt.Sprintf("program %d", i), entry)
	}
	for _, call := range o.Calls {
		add("call", call)
	}
	for _, event := range o.Failed {
		add("failed", event)
	}
	for urn, resource := range o.State {
		add("state "+urn, resource)
	}
	return out
}

// The special values, as scenarios and goldens write them: {"$secret": v}, {"$bytes": "base64"}, {"$unknown": true}, {"$output": {…}}.
const (
	signature  = "4dabf18193072939515e22adb298388d"
	secretSign = "1b47061264138c4ac30d75fd1eb44270"
	bytesSign  = "803fd3297a5875dc03ca845dda5d2a98"
	outputSign = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
	refSign    = "5cf8f73096256a8f31e491e813e4eb8e"
	unknown    = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
)

var urnPrefix = "urn:pulumi:dev::probe::"

// expand turns the special values of a scenario into those of the protocol. lookup answers references.
func expand(v any, lookup func(path string) (any, bool)) any {
	switch x := v.(type) {
	case string:
		if path, is := strings.CutPrefix(x, "${"); is && strings.HasSuffix(path, "}") && strings.Count(x, "${") == 1 {
			found, ok := lookup(strings.TrimSuffix(path, "}"))
			if !ok {
				return unknown // an output that is not there is not known
			}
			return found
		}
		return reference.ReplaceAllStringFunc(x, func(r string) string {
			found, _ := lookup(r[2 : len(r)-1])
			return fmt.Sprint(found)
		})
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = expand(e, lookup)
		}
		return out
	case map[string]any:
		if s, is := x["$secret"]; is {
			return map[string]any{signature: secretSign, "value": expand(s, lookup)}
		}
		if s, is := x["$bytes"]; is {
			return map[string]any{signature: bytesSign, "value": s}
		}
		if _, is := x["$unknown"]; is {
			return unknown
		}
		if s, is := x["$resref"].(map[string]any); is {
			return with(expand(s, lookup).(map[string]any), signature, refSign)
		}
		if s, is := x["$output"].(map[string]any); is {
			return with(expand(s, lookup).(map[string]any), signature, outputSign)
		}
		out := map[string]any{}
		for k, e := range x {
			out[k] = expand(e, lookup)
		}
		return out
	}
	return v
}

var reference = regexp.MustCompile(`\$\{[^}]*\}`)

func with(m map[string]any, key string, value any) map[string]any {
	m[key] = value
	return m
}

var (
	uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// dropped are fields that say where something is or are random.
	dropped = map[string]bool{
		"randomSeed": true, "resourceStatusAddress": true, "resourceStatusToken": true, "monitorEndpoint": true, "rootDirectory": true, "programDirectory": true,
		"created": true, "modified": true, "sourcePosition": true, "stackTraceHandle": true, "organization": true, "parallel": true, "__internal": true,
	}
	// addresses are fields of which only their presence is compared.
	addresses = map[string]bool{"engineAddress": true, "mapperTarget": true, "loaderTarget": true, "resolverTarget": true}
)

// shorten turns what went over the wire into what goldens have.
func shorten(v any) any {
	switch x := v.(type) {
	case string:
		if x == unknown {
			return map[string]any{"$unknown": true}
		}
		return strings.ReplaceAll(uuid.ReplaceAllString(x, "#"), urnPrefix, "~")
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = shorten(e)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, e := range x {
			if k == signature || dropped[k] {
				continue
			}
			if addresses[k] {
				e = e != ""
			}
			if list, is := e.([]any); is && k == "supportedFeatures" { // their order means nothing
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
			if short := shorten(e); !isEmpty(short) {
				out[fmt.Sprint(shorten(k))] = short
			}
		}
		switch x[signature] {
		case secretSign:
			if plain, is := x["plaintext"].(string); is { // of a state
				var v any
				if json.Unmarshal([]byte(plain), &v) == nil {
					return map[string]any{"$secret": shorten(v)}
				}
			}
			return map[string]any{"$secret": out["value"]}
		case bytesSign:
			return map[string]any{"$bytes": out["value"]}
		case outputSign:
			return map[string]any{"$output": out}
		case refSign:
			return map[string]any{"$resref": out}
		}
		return out
	}
	return v
}

// isEmpty reports whether a value is as good as none, as in the compatibility kit.
func isEmpty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case []any:
		return len(x) == 0
	case map[string]any:
		return len(x) == 0
	}
	return false
}

// dig follows a path of fields.
func dig(v any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		m, is := v.(map[string]any)
		if !is {
			return nil, false
		}
		if v, is = m[name]; !is {
			return nil, false
		}
	}
	return v, true
}

func scenarios(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/scenarios/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	out := map[string]string{}
	for _, path := range paths {
		out[strings.TrimSuffix(filepath.Base(path), ".json")] = path
	}
	return out
}
