package operate

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/urn"
)

// incrementalKey is the key of the setting that says which answers of earlier runs are used again: true, false, or an object with the names of
// packages and types, whose values are true or false. "*" is every package.
const incrementalKey = "sluice:incremental"

// answers are what an operation takes over from earlier runs and from its preview. The zero value takes over nothing.
type answers struct {
	preview  *providers.Answers
	recorded *providers.RecordedAnswers
	entropy  []byte // of the preview and the operation

	keeper   backend.SideKeeper
	sealed   string // the key of the digests, as it is written
	revision string // of what the keeper keeps
}

// openAnswers returns what the phases of an operation take over. An operation that performs nothing has only a preview.
func openAnswers(ctx context.Context, o *operation, performs bool) (answers, error) {
	var a answers
	if o.job.Flags.Incremental.Off || !o.job.Kind.NeedsProgram {
		return a, nil
	}
	places := PluginOptions(o.job, o.job.Stack.Session.Project.Directory())
	places.Warn = func(string) {} // the operation warns
	identify := host.NewPluginHost(places).Identify
	if performs && !o.job.Flags.Confirmation.SkipPreview || o.job.Flags.Program.RefreshesChanged() {
		a.preview = providers.NewAnswers(identify)
		a.entropy = random()
	}
	applies, err := requested(o.job)
	if err != nil || applies == nil || o.job.secrets == nil {
		return a, err
	}
	share, err := o.job.Flags.Incremental.Share()
	if err != nil {
		return a, err
	}
	a.keeper = session.Sides(ctx, o.job.Stack)
	key, encoded, err := a.open(ctx, o.job)
	if err != nil {
		return a, err
	}
	options := providers.RecordedOptions{
		Key: key, Now: time.Now(), Applies: applies.to, Identify: identify,
		Wrong: func(u urn.URN, pkg string, m providers.Method) {
			o.job.remarks.warn("%s: the provider %q answers %s differently than before although nothing has changed that it was given. Its earlier answers are not used any more; "+
				"turn them off for good with `sluice config set --path '%s[\"%s\"]' false`", u, pkg, m, incrementalKey, pkg)
		},
	}
	if age := o.job.Flags.Incremental.MaxAge; age > 0 {
		options.Oldest = options.Now.Add(-age)
	}
	if share > 0 {
		options.Sampled = sampler(share)
	}
	if a.recorded, err = providers.NewRecordedAnswers(options, encoded); err != nil {
		o.job.remarks.warn("the answers that providers gave in earlier runs are not used: %v", err)
	}
	return a, nil
}

func random() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // which never fails
	return b
}

// sampler returns a function that chooses a share of all resources at random.
func sampler(share float64) func(urn.URN) bool {
	seed := random()
	return func(u urn.URN) bool {
		sum := sha256.Sum256(append(seed[:len(seed):len(seed)], u...))
		return float64(binary.BigEndian.Uint64(sum[:]))/math.MaxUint64 < share
	}
}

// open returns the key of the digests, and the answers of earlier runs. Answers that cannot be opened are not used: those of another key, for example.
func (a *answers) open(ctx context.Context, j *Job) (key, encoded []byte, err error) {
	content, revision, err := a.keeper.ReadSide(ctx, backend.Answers)
	if err != nil {
		return nil, nil, err
	}
	a.revision = revision
	if sealed, rest, found := bytes.Cut(content, []byte("\n")); found {
		text, err := j.secrets.Decrypter().Decrypt(ctx, string(sealed))
		key, decodeErr := base64.StdEncoding.DecodeString(text)
		if err == nil && decodeErr == nil && len(key) == 32 {
			a.sealed = string(sealed)
			return key, rest, nil
		}
	}
	key = random()
	a.sealed, err = j.secrets.Encrypter().Encrypt(ctx, base64.StdEncoding.EncodeToString(key))
	return key, nil, err
}

// begin removes the recorded answers before anything is changed. If the operation is killed, the next one asks about everything: it gets other random
// values for what may have been made.
func (a *answers) begin(ctx context.Context) error {
	if a.recorded == nil {
		return nil
	}
	a.revision = ""
	return a.keeper.RemoveSide(ctx, backend.Answers)
}

// end records the answers for the next run, unless another one has recorded some meanwhile.
func (a *answers) end(ctx context.Context, j *Job) {
	if a.recorded == nil {
		return
	}
	if _, err := a.keeper.WriteSide(ctx, backend.Answers, append([]byte(a.sealed+"\n"), a.recorded.Encode()...), a.revision); err != nil {
		j.Terminal.Warn("the answers of the providers were not recorded for --incremental: %v", err)
	}
}

// scope says for which packages and types answers of earlier runs are used again.
type scope map[string]bool

// requested returns the scope that the settings and the flag of a job request, nil if none is requested.
func requested(j *Job) (scope, error) {
	s := scope{}
	if j.Flags.Incremental.On {
		s["*"] = true
	}
	v, has := j.config[incrementalKey]
	if has {
		if err := s.parse(v); err != nil {
			return nil, err
		}
	}
	for _, on := range s {
		if on {
			return s, nil
		}
	}
	return nil, nil
}

func (s scope) parse(v sluice.ConfigValue) error {
	switch strings.TrimSpace(v.Text) {
	case "true":
		s["*"] = true
		return nil
	case "false":
		if !s["*"] {
			s["*"] = false
		}
		return nil
	}
	var named map[string]bool
	if err := json.Unmarshal([]byte(v.Text), &named); err != nil {
		return exit.AsUsage(fmt.Errorf("config %s must be true, false or an object such as {\"*\": true, \"aws\": false}: %w", incrementalKey, err))
	}
	for name, on := range named {
		if name != "*" || !s["*"] {
			s[name] = on
		}
	}
	return nil
}

// to reports whether answers about a type of a package are used again: the type, the package and "*" count, in this order. Packages that look
// outside must be named.
func (s scope) to(pkg string, t urn.Type) bool {
	if on, named := s[string(t)]; named && t != "" {
		return on
	}
	if on, named := s[pkg]; named {
		return on
	}
	_, looksOutside := providers.LooksOutside(pkg)
	return s["*"] && !looksOutside
}
