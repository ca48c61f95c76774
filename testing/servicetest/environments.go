package servicetest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// definition is the definition of an environment.
type definition struct {
	Imports []any          `yaml:"imports"`
	Values  map[string]any `yaml:"values"`
}

// value is an evaluated property.
type value struct {
	Value   any            `json:"value,omitempty"`
	Secret  bool           `json:"secret,omitempty"`
	Unknown bool           `json:"unknown,omitempty"`
	Trace   map[string]any `json:"trace"`
}

// diagnosed is a refusal of a definition.
type diagnosed struct{ environment, summary string }

func (d *diagnosed) Error() string { return d.summary }

func (d *diagnosed) body() any {
	at := map[string]int{"line": 1, "column": 1, "byte": 0}
	return map[string]any{"code": http.StatusBadRequest, "message": "Bad Request: the environment has errors", "diagnostics": []any{
		map[string]any{"range": map[string]any{"environment": d.environment, "begin": at, "end": at}, "summary": d.summary},
	}}
}

// routeEnvironments handles the calls about environments: /api/esc/environments/p….
func (s *Server) routeEnvironments(r *request, p []string) (any, error) {
	if r.user == "" {
		return nil, violate("%s %s: with the token of an update", r.Method, r.URL.Path)
	}
	organization := p[0]
	if !s.isMember(r.user, organization) {
		return nil, refuse(http.StatusNotFound, "Not Found: Organization '%s' not found", organization)
	}
	if r.Method == http.MethodPost && len(p) == 1 {
		return s.createEnvironment(r, organization)
	}
	if r.Method == http.MethodDelete && len(p) == 3 {
		name := strings.Join(p, "/")
		if _, there := s.environments[name]; !there {
			return nil, refuse(http.StatusNotFound, "Not Found: no such environment")
		}
		delete(s.environments, name)
		return nil, nil
	}
	if err := checkDefinition(r.body); err != nil {
		return nil, err
	}
	if r.Method == http.MethodPatch && len(p) == 3 {
		return s.setEnvironment(r, strings.Join(p, "/"))
	}
	query := r.URL.Query()
	switch what := r.Method + " " + strings.Join(p[1:], "/"); {
	case what == "POST yaml/check":
		if len(query) != 1 || query.Get("showSecrets") != "false" {
			return nil, violate("POST check: with the conditions %q", r.URL.RawQuery)
		}
		found, err := s.evaluate(organization, "yaml", r.body, how{})
		return map[string]any{"properties": found}, err
	case what == "POST yaml/open":
		d, err := time.ParseDuration(query.Get("duration"))
		overrides, bad := overridesOf(query.Get("environmentOverrides"))
		if err != nil || d <= 0 || bad != nil || len(query) != 1 && (len(query) != 2 || len(overrides) == 0) {
			return nil, violate("POST open: with the conditions %q", r.URL.RawQuery)
		}
		found, err := s.evaluate(organization, "yaml", r.body, how{true, overrides})
		if err != nil {
			return nil, err
		}
		id := s.chance.id()
		s.sessions[organization+" "+id] = found
		return map[string]string{"id": id}, nil
	case strings.HasPrefix(what, "GET yaml/open/") && len(query) == 0:
		found, there := s.sessions[organization+" "+p[len(p)-1]]
		if !there {
			return nil, refuse(http.StatusNotFound, "Not Found: no such session")
		}
		return map[string]any{"properties": found}, nil
	}
	return nil, violate("%s %s: there is no such call", r.Method, r.URL.Path)
}

// how are the options of evaluating a definition.
type how struct {
	opened    bool
	overrides map[string]string // by the name of the replaced import
}

// overridesOf parses the replacements of imported environments.
func overridesOf(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	var out map[string]string
	err = json.Unmarshal(raw, &out)
	return out, err
}

// createEnvironment makes an empty environment.
func (s *Server) createEnvironment(r *request, organization string) (any, error) {
	var in struct {
		Project string `json:"project"`
		Name    string `json:"name"`
	}
	if err := r.into(&in); err != nil {
		return nil, err
	}
	name := organization + "/" + in.Project + "/" + in.Name
	if _, there := s.environments[name]; there || in.Project == "" || in.Name == "" {
		return nil, refuse(http.StatusConflict, "Conflict: the environment exists")
	}
	s.environments[name] = "values: {}"
	return nil, nil
}

// setEnvironment sets the definition of an environment.
func (s *Server) setEnvironment(r *request, name string) (any, error) {
	if _, there := s.environments[name]; !there {
		return nil, refuse(http.StatusNotFound, "Not Found: no such environment")
	}
	organization, short, _ := strings.Cut(name, "/")
	if _, err := s.evaluate(organization, short, r.body, how{}); err != nil {
		return nil, err
	}
	s.environments[name] = string(r.body)
	return map[string]any{}, nil
}

// evaluate merges the imports of a definition with its own values. It supports the functions fn::secret and fn::open; the value of the second is
// known only when the environment is opened.
func (s *Server) evaluate(organization, name string, text []byte, h how) (map[string]*value, error) {
	var d definition
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, &diagnosed{name, err.Error()}
	}
	all := map[string]*value{}
	for _, i := range d.Imports {
		imported, is := i.(string)
		if options, isMap := i.(map[string]any); isMap {
			for imported = range options {
				is = len(options) == 1
			}
		}
		imported = cmp.Or(h.overrides[imported], imported)
		content, there := s.environments[organization+"/"+imported]
		if !is || !there {
			return nil, &diagnosed{name, fmt.Sprintf("unknown environment %v", i)}
		}
		found, err := s.evaluate(organization, imported, []byte(content), h)
		if err != nil {
			return nil, err
		}
		mergeValues(all, found)
	}
	own := map[string]*value{}
	for key, v := range d.Values {
		own[key] = valueOf(v, h.opened)
	}
	mergeValues(all, own)
	return all, nil
}

func valueOf(in any, opened bool) *value {
	v := &value{Value: in, Trace: map[string]any{}}
	switch in := in.(type) {
	case string:
		v.Value = strings.ReplaceAll(in, "$$", "$")
	case []any:
		list := []*value{}
		for _, e := range in {
			list = append(list, valueOf(e, opened))
		}
		v.Value = list
	case map[string]any:
		if plain, is := in["fn::secret"]; is {
			v.Value = plain
			if !opened {
				v.Value = "[secret]"
			}
			v.Secret = true
			return v
		}
		if given, is := in["fn::open"]; is {
			if v = valueOf(given, opened); !opened {
				v.Value, v.Unknown = nil, true
			}
			return v
		}
		object := map[string]*value{}
		for key, e := range in {
			object[key] = valueOf(e, opened)
		}
		v.Value = object
	case int, float64:
		v.Value = json.Number(fmt.Sprint(in))
	}
	return v
}

// mergeValues merges objects, and replaces other values.
func mergeValues(into, from map[string]*value) {
	for key, v := range from {
		old, there := into[key]
		if there {
			before, isObject := old.Value.(map[string]*value)
			after, areObjects := v.Value.(map[string]*value)
			if isObject && areObjects {
				mergeValues(before, after)
				continue
			}
		}
		into[key] = v
	}
}

var environmentKeys = []string{"imports", "values"}

// checkDefinition refuses an invalid definition.
func checkDefinition(text []byte) error {
	var d map[string]any
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil // it has a diagnostic
	}
	for key := range d {
		if !slices.Contains(environmentKeys, key) {
			return violate("an environment with %s", key)
		}
	}
	return nil
}
