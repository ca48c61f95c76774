package servicetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// definition is that of an environment.
type definition struct {
	Imports []any          `yaml:"imports"`
	Values  map[string]any `yaml:"values"`
}

// value is a property that has been evaluated.
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

// routeEnvironments answers what is about environments: /api/esc/environments/p….
func (s *Server) routeEnvironments(r *request, p []string) (any, error) {
	if r.user == "" {
		return nil, violate("%s %s: with the token of an update", r.Method, r.URL.Path)
	}
	organization := p[0]
	if !s.isMember(r.user, organization) {
		return nil, refuse(http.StatusNotFound, "Not Found: Organization '%s' not found", organization)
	}
	if err := checkDefinition(r.body); err != nil {
		return nil, err
	}
	query := r.URL.Query()
	switch what := r.Method + " " + strings.Join(p[1:], "/"); {
	case what == "POST yaml/check":
		if len(query) != 1 || query.Get("showSecrets") != "false" {
			return nil, violate("POST check: with the conditions %q", r.URL.RawQuery)
		}
		found, err := s.evaluate(organization, "yaml", r.body, false)
		return map[string]any{"properties": found}, err
	case what == "POST yaml/open":
		d, err := time.ParseDuration(query.Get("duration"))
		if len(query) != 1 || err != nil || d <= 0 {
			return nil, violate("POST open: with the conditions %q", r.URL.RawQuery)
		}
		found, err := s.evaluate(organization, "yaml", r.body, true)
		if err != nil {
			return nil, err
		}
		id := s.newID()
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

// evaluate merges what a definition imports with its own values. The functions fn::secret and fn::open are known: what the second gives is only known
// when the environment is opened.
func (s *Server) evaluate(organization, name string, text []byte, opened bool) (map[string]*value, error) {
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
		content, there := s.options.Environments[organization+"/"+imported]
		if !is || !there {
			return nil, &diagnosed{name, fmt.Sprintf("unknown environment %v", i)}
		}
		found, err := s.evaluate(organization, imported, []byte(content), opened)
		if err != nil {
			return nil, err
		}
		mergeValues(all, found)
	}
	own := map[string]*value{}
	for key, v := range d.Values {
		own[key] = valueOf(v, opened)
	}
	mergeValues(all, own)
	return all, nil
}

func valueOf(in any, opened bool) *value {
	v := &value{Value: in, Trace: map[string]any{}}
	switch in := in.(type) {
	case []any:
		list := []*value{}
		for _, e := range in {
			list = append(list, valueOf(e, opened))
		}
		v.Value = list
	case map[string]any:
		if plain, is := in["fn::secret"]; is {
			if v = valueOf(plain, opened); !opened {
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

// checkDefinition refuses what is no definition.
func checkDefinition(text []byte) error {
	var d map[string]any
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil // which is diagnosed
	}
	for key := range d {
		if !slices.Contains(environmentKeys, key) {
			return violate("an environment with %s", key)
		}
	}
	return nil
}
