package servicetest

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// deployment is a state in the form of the protocol.
type deployment struct {
	Version    int             `json:"version"`
	Features   []string        `json:"features,omitempty"`
	Deployment json.RawMessage `json:"deployment,omitempty"`
}

type stack struct {
	id, organization, project, name string
	tags                            map[string]string
	version                         int
	state                           deployment
	updates                         []*update // in the order in which they were created
	history                         []*update // those that are a version of the stack, in order
	active                          *update   // the running or latest update that is a version
	key                             []byte
	settings                        string // the environment with the settings; "" if they are in files
}

func (k *stack) running() *update {
	if k.active != nil && k.active.status == running {
		return k.active
	}
	return nil
}

// resources returns the number of resources in the state.
func (k *stack) resources() int { return len(resourcesOf(k.state)) }

func resourcesOf(d deployment) []json.RawMessage {
	var content struct {
		Resources []json.RawMessage `json:"resources"`
	}
	_ = json.Unmarshal(d.Deployment, &content) // there may be no state
	return content.Resources
}

const emptyDeployment = `{"manifest":{"time":"0001-01-01T00:00:00Z","magic":"","version":""},"metadata":{}}`

func (s *Server) list(r *request) (any, error) {
	query := r.URL.Query()
	for name := range query {
		if !slices.Contains([]string{"project", "organization", "tagName", "tagValue", "continuationToken"}, name) {
			return nil, violate("GET /api/user/stacks: unknown condition %s", name)
		}
	}
	var all []map[string]any
	for _, name := range slices.Sorted(maps.Keys(s.stacks)) {
		k := s.stacks[name]
		tag, tagged := k.tags[query.Get("tagName")]
		switch {
		case !s.isMember(r.user, k.organization),
			query.Has("project") && query.Get("project") != k.project,
			query.Has("organization") && query.Get("organization") != k.organization,
			query.Has("tagName") && !tagged, query.Has("tagValue") && query.Get("tagValue") != tag:
			continue
		}
		one := map[string]any{"id": k.id, "orgName": k.organization, "projectName": k.project, "stackName": k.name}
		if k.active != nil {
			one["lastUpdate"], one["resourceCount"] = k.active.started.Unix(), k.resources()
		}
		all = append(all, one)
	}
	at := 0
	if query.Has("continuationToken") {
		n, err := fmt.Sscanf(query.Get("continuationToken"), "at-%d", &at)
		if err != nil || n != 1 || at > len(all) {
			return nil, violate("GET /api/user/stacks: a token that was not given out")
		}
	}
	end := min(at+s.options.PageSize, len(all))
	out := map[string]any{"stacks": append([]map[string]any{}, all[at:end]...)}
	if end < len(all) {
		out["continuationToken"] = "at-" + strconv.Itoa(end)
	}
	return out, nil
}

// routeStack handles the calls about stacks: /api/stacks/p….
func (s *Server) routeStack(r *request, p []string) (any, error) {
	organization := p[0]
	if r.user != "" && !s.isMember(r.user, organization) {
		return nil, refuse(http.StatusNotFound, "Not Found: Organization '%s' not found", organization)
	}
	if len(p) == 2 {
		switch r.Method {
		case http.MethodHead:
			for _, k := range s.stacks {
				if k.organization == organization && k.project == p[1] {
					return nil, nil
				}
			}
			return nil, refuse(http.StatusNotFound, "Not Found: Project not found")
		case http.MethodPost:
			return s.create(r, organization, p[1])
		}
		return nil, violate("%s %s: there is no such call", r.Method, r.URL.Path)
	}
	name := strings.Join(p[:3], "/")
	k := s.stacks[name]
	if k == nil {
		return nil, refuse(http.StatusNotFound, "Not Found: Stack '%s' not found", name)
	}
	rest := strings.Join(p[3:], "/")
	if len(p) >= 5 && p[3] == "update" {
		return s.routeUpdate(r, k, p[4], strings.Join(p[5:], "/"))
	}
	if r.user == "" {
		return nil, violate("%s %s: with the token of an update", r.Method, r.URL.Path)
	}
	switch r.Method + " " + rest {
	case "GET ":
		return describe(k), nil
	case "DELETE ":
		if k.resources() > 0 && r.URL.Query().Get("force") != "true" {
			return nil, refuse(http.StatusBadRequest, "Bad Request: Stack still contains resources.")
		}
		delete(s.stacks, name)
		return nil, nil
	case "PATCH tags":
		var tags map[string]string
		if err := r.into(&tags); err != nil {
			return nil, err
		}
		k.tags = tags
		return nil, nil
	case "POST rename":
		return s.rename(r, k)
	case "POST import":
		return s.importState(r, k)
	case "POST update", "POST preview", "POST refresh", "POST destroy":
		return s.createUpdate(r, k, rest)
	case "POST encrypt", "POST batch-encrypt", "POST decrypt", "POST batch-decrypt":
		return s.crypt(r, k, rest)
	case "POST decrypt/log-decryption", "POST decrypt/log-batch-decryption":
		var in struct {
			Secret  string `json:"secretName"`
			Command string `json:"commandName"`
		}
		if err := r.into(&in); err != nil {
			return nil, err
		}
		if one := rest == "decrypt/log-decryption"; (in.Secret != "") != one || (in.Command != "") == one {
			return nil, violate("POST %s: of the setting %q and the command %q", rest, in.Secret, in.Command)
		}
		return nil, nil
	case "GET export":
		return k.export(), nil
	case "GET updates":
		return k.pages(r)
	case "GET updates/latest":
		if len(k.history) == 0 {
			return nil, refuse(http.StatusNotFound, "Not Found: no updates")
		}
		return map[string]any{"info": k.history[len(k.history)-1].info()}, nil
	case "GET policypacks":
		return map[string]any{"requiredPolicies": s.required(k.organization)}, nil
	}
	if text, is := strings.CutPrefix(rest, "export/"); is && r.Method == http.MethodGet {
		version, err := strconv.Atoi(text)
		if err == nil && version >= 1 && version <= len(k.history) {
			return k.history[version-1].state, nil
		}
		return nil, refuse(http.StatusNotFound, "Not Found: Update %s not found", text)
	}
	return nil, violate("%s %s: there is no such call", r.Method, r.URL.Path)
}

func describe(k *stack) any {
	out := map[string]any{
		"id": k.id, "orgName": k.organization, "projectName": k.project, "stackName": k.name, "tags": k.tags, "version": k.version,
		"activeUpdate": "",
	}
	if k.active != nil {
		out["activeUpdate"] = k.active.id
	}
	if k.settings != "" {
		out["config"] = map[string]string{"environment": k.settings}
	}
	if u := k.running(); u != nil {
		out["currentOperation"] = map[string]any{"kind": u.kind, "author": u.user, "started": u.started.Unix()}
	}
	return out
}

func (k *stack) export() deployment {
	if u := k.running(); u != nil && u.journal != nil {
		if d, err := u.journal.deployment(); err == nil {
			return d
		}
	}
	if k.state.Deployment == nil {
		return deployment{Version: 3, Deployment: json.RawMessage(emptyDeployment)}
	}
	return k.state
}

// State returns the present deployment of a stack, nil if there is no such stack. name is "organization/project/stack".
func (s *Server) State(name string) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.stacks[name]
	if k == nil {
		return nil
	}
	return k.export().Deployment
}

// KeepSettings moves the settings of a stack to an environment. name is "organization/project/stack".
func (s *Server) KeepSettings(name, environment string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stacks[name].settings = environment
}

func (s *Server) create(r *request, organization, project string) (any, error) {
	var in struct {
		Name   string            `json:"stackName"`
		Tags   map[string]string `json:"tags"`
		Teams  []string          `json:"teams"`
		State  *deployment       `json:"state"`
		Config *struct {
			Environment string `json:"environment"`
		} `json:"config"`
	}
	if err := r.into(&in); err != nil {
		return nil, err
	}
	name := organization + "/" + project + "/" + in.Name
	if s.stacks[name] != nil {
		return nil, refuse(http.StatusConflict, "Conflict: Stack '%s' already exists", in.Name)
	}
	k := &stack{id: s.chance.id(), organization: organization, project: project, name: in.Name, tags: in.Tags, key: s.chance.bytes(32)}
	if in.State != nil {
		k.state = *in.State
	}
	if in.Config != nil {
		k.settings = in.Config.Environment
	}
	s.stacks[name] = k
	return map[string]any{}, nil
}

func (s *Server) rename(r *request, k *stack) (any, error) {
	var in struct {
		Name    string `json:"newName"`
		Project string `json:"newProject"`
	}
	if err := r.into(&in); err != nil {
		return nil, err
	}
	project, name := cmp.Or(in.Project, k.project), cmp.Or(in.Name, k.name)
	to := k.organization + "/" + project + "/" + name
	switch {
	case k.running() != nil:
		return nil, refuse(http.StatusConflict, "Conflict: Another update is currently in progress.")
	case s.stacks[to] != nil:
		return nil, refuse(http.StatusConflict, "Conflict: Stack '%s' already exists", name)
	}
	delete(s.stacks, k.organization+"/"+k.project+"/"+k.name)
	// The URNs change with the stack's name, and the root stack also has it in its own name.
	before, after := "urn:pulumi:"+k.name+"::"+k.project+"::", "urn:pulumi:"+name+"::"+project+"::"
	const root = "pulumi:pulumi:Stack::"
	text := strings.NewReplacer(before+root+k.project+"-"+k.name+`"`, after+root+project+"-"+name+`"`, before, after).Replace(string(k.state.Deployment))
	if k.state.Deployment != nil {
		k.state.Deployment = json.RawMessage(text)
	}
	k.project, k.name = project, name
	s.stacks[to] = k
	return nil, nil
}

func (s *Server) importState(r *request, k *stack) (any, error) {
	var in deployment
	if err := r.into(&in); err != nil {
		return nil, err
	}
	if k.running() != nil {
		return nil, refuse(http.StatusConflict, "Conflict: Another update is currently in progress.")
	}
	u := &update{id: s.chance.id(), kind: "import", user: r.user, status: succeeded, started: s.chance.Now, ended: s.chance.Now}
	k.state = in
	k.finish(u)
	k.updates = append(k.updates, u)
	k.active = u
	return map[string]string{"updateId": u.id}, nil
}

// finish makes the state of the stack that of a version.
func (k *stack) finish(u *update) {
	k.version++
	u.version, u.state = k.version, k.export()
	k.history = append(k.history, u)
}

func (k *stack) pages(r *request) (any, error) {
	query := r.URL.Query()
	size, page := 100, 1
	for name, to := range map[string]*int{"pageSize": &size, "page": &page} {
		if !query.Has(name) {
			continue
		}
		n, err := strconv.Atoi(query.Get(name))
		if err != nil || n < 1 {
			return nil, violate("GET updates: %s is %q", name, query.Get(name))
		}
		*to = n
	}
	all := slices.Clone(k.history)
	slices.Reverse(all)
	from := min((page-1)*size, len(all))
	out := []any{}
	for _, u := range all[from:min(from+size, len(all))] {
		out = append(out, u.info())
	}
	return map[string]any{"updates": out}, nil
}

func (k *stack) addEntries(r *request, u *update) error {
	var in struct {
		Entries []entry `json:"entries"`
	}
	if err := r.into(&in); err != nil {
		return err
	}
	if u.journal == nil {
		return violate("PATCH journalentries: by an update that writes no journal")
	}
	for _, e := range in.Entries {
		if u.journal.seen[e.Sequence] {
			continue // a repeated entry
		}
		u.journal.seen[e.Sequence] = true
		if err := u.journal.add(e); err != nil {
			return err
		}
	}
	return nil
}

// end ends an update with a status.
func (k *stack) end(u *update, status string, now time.Time) error {
	wasRunning := u.status == running
	u.status, u.ended = status, now
	if u.dryRun || !wasRunning {
		return nil
	}
	if u.journal != nil {
		d, err := u.journal.deployment()
		if err != nil {
			return err
		}
		k.state = d
	}
	k.finish(u)
	return nil
}

func (k *stack) checkpoint(r *request, u *update) error {
	var in struct {
		Invalid bool `json:"isInvalid"`
		deployment
	}
	if err := r.into(&in); err != nil {
		return err
	}
	if err := u.mayCheckpoint(); err != nil {
		return err
	}
	if in.Version < 1 || in.Deployment == nil {
		return violate("PATCH checkpoint: version %d", in.Version)
	}
	k.state, u.text = in.deployment, nil
	return nil
}

func (k *stack) verbatim(r *request, u *update) error {
	var in struct {
		Version  int             `json:"version"`
		Content  json.RawMessage `json:"untypedDeployment"`
		Sequence int             `json:"sequenceNumber"`
	}
	if err := r.into(&in); err != nil {
		return err
	}
	if err := u.mayCheckpoint(); err != nil {
		return err
	}
	if in.Sequence <= u.sequence {
		if bytes.Equal(in.Content, u.text) {
			return nil // a repeated call
		}
		return violate("PATCH checkpointverbatim: number %d after %d", in.Sequence, u.sequence)
	}
	return k.take(u, in.Content, in.Sequence)
}

// take replaces the state by the one in a text.
func (k *stack) take(u *update, text []byte, sequence int) error {
	var d deployment
	if err := json.Unmarshal(text, &d); err != nil || d.Deployment == nil {
		return violate("a checkpoint that is none: %v", err)
	}
	k.state, u.text, u.sequence = d, text, sequence
	return nil
}

// crypt encrypts and decrypts with the key of a stack.
func (s *Server) crypt(r *request, k *stack, what string) (any, error) {
	var in struct {
		Plaintext   []byte   `json:"plaintext"`
		Ciphertext  []byte   `json:"ciphertext"`
		Plaintexts  [][]byte `json:"plaintexts"`
		Ciphertexts [][]byte `json:"ciphertexts"`
	}
	if err := r.into(&in); err != nil {
		return nil, err
	}
	batched := strings.HasPrefix(what, "batch-")
	switch n := len(in.Plaintexts) + len(in.Ciphertexts); {
	case batched && s.options.OneByOne:
		return nil, refuse(http.StatusNotFound, "Not Found: there is no such call")
	case batched && s.options.MaxBatch > 0 && n > s.options.MaxBatch:
		return nil, refuse(http.StatusRequestEntityTooLarge, "Request Entity Too Large: %d secrets", n)
	case batched && n == 0:
		return nil, violate("POST %s: without secrets", what)
	}
	block, err := aes.NewCipher(k.key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	open := func(sealed []byte) ([]byte, error) {
		b, err := gcm.Open(nil, nil, sealed, nil)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "Bad Request: the ciphertext is not of this stack")
		}
		return b, nil
	}
	switch what {
	case "encrypt":
		return map[string][]byte{"ciphertext": gcm.Seal(nil, nil, in.Plaintext, nil)}, nil
	case "batch-encrypt":
		if !s.options.Batch {
			return nil, violate("POST batch-encrypt: the service does not say that it can")
		}
		out := make([][]byte, len(in.Plaintexts))
		for i, b := range in.Plaintexts {
			out[i] = gcm.Seal(nil, nil, b, nil)
		}
		return map[string][][]byte{"ciphertexts": out}, nil
	case "decrypt":
		b, err := open(in.Ciphertext)
		return map[string][]byte{"plaintext": b}, err
	}
	out := map[string][]byte{}
	for _, sealed := range in.Ciphertexts {
		b, err := open(sealed)
		if err != nil {
			return nil, err
		}
		out[base64.StdEncoding.EncodeToString(sealed)] = b
	}
	return map[string]any{"plaintexts": out}, nil
}
