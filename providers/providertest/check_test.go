package providertest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// failures is a test that does not end when it fails.
type failures struct {
	testing.TB
	mu    sync.Mutex
	texts []string
}

func (f *failures) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

// checkedCase is a case for a cloud.
func checkedCase(cloud *providertest.Cloud) providertest.Case {
	return providertest.Case{
		Type: thing, Inputs: object("size", "1", "immutableName", "x"), Updated: object("size", "2", "immutableName", "x"),
		Replaced: object("size", "1", "immutableName", "y"),
		Exists: func() any {
			records, err := cloud.Records()
			return []any{records, err}
		},
	}
}

func TestTheCloudKeepsWhatEnginesRelyOn(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	providertest.Check(t, func() providers.Provider { return cloud.Provider("simple") }, checkedCase(cloud))
	records, err := cloud.Records()
	require.NoError(t, err)
	require.Empty(t, records)
	for _, m := range []providers.Method{providers.MethodCheck, providers.MethodDiff, providers.MethodCreate, providers.MethodRead, providers.MethodUpdate, providers.MethodDelete} {
		require.NotZero(t, cloud.Count(m), m)
	}
}

func TestCheckFindsWhatEnginesCannotRelyOn(t *testing.T) {
	refused := errors.New("refused")
	for text, breaks := range map[string]func(*providertest.Fake){
		"CheckConfig refuses the configuration: [] refused": func(f *providertest.Fake) {
			f.OnCheckConfig = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
				return providers.CheckResponse{}, refused
			}
		},
		"Check: another answer for the same seed": func(f *providertest.Fake) {
			var mu sync.Mutex
			n := 0
			f.OnCheck = func(_ context.Context, q providers.CheckRequest) (providers.CheckResponse, error) {
				mu.Lock()
				defer mu.Unlock()
				n++
				return providers.CheckResponse{Inputs: q.News.With("name", property.Number(float64(n)))}, nil
			}
		},
		"Check: with its own answer as old inputs": func(f *providertest.Fake) {
			f.OnCheck = func(_ context.Context, q providers.CheckRequest) (providers.CheckResponse, error) {
				return providers.CheckResponse{Inputs: q.News.With("olds", property.Number(float64(q.Olds.Len())))}, nil
			}
		},
		"Check of a preview in which size is unknown: [] size must be a text": func(f *providertest.Fake) {
			f.OnCheck = func(_ context.Context, q providers.CheckRequest) (providers.CheckResponse, error) {
				if !q.News.At("size").IsString() {
					return providers.CheckResponse{}, errors.New("size must be a text")
				}
				return providers.CheckResponse{Inputs: q.News}, nil
			}
		},
		"the preview of Create has changed what exists": func(f *providertest.Fake) {
			f.OnCreate = func(ctx context.Context, q providers.CreateRequest) (providers.CreateResponse, error) {
				q.Preview = false
				return f.Base.Create(ctx, q)
			}
		},
		"Create: the preview has said that arn is \"soon\"": func(f *providertest.Fake) {
			f.OnCreate = func(ctx context.Context, q providers.CreateRequest) (providers.CreateResponse, error) {
				r, err := f.Base.Create(ctx, q)
				if q.Preview {
					r.Properties = r.Properties.With("arn", property.String("soon"))
				}
				return r, err
			}
		},
		"Create has returned no ID": func(f *providertest.Fake) {
			f.OnCreate = func(ctx context.Context, q providers.CreateRequest) (providers.CreateResponse, error) {
				r, err := f.Base.Create(ctx, q)
				r.ID = ""
				return r, err
			}
		},
		"Create has returned unknowns": func(f *providertest.Fake) {
			f.OnCreate = func(ctx context.Context, q providers.CreateRequest) (providers.CreateResponse, error) {
				r, err := f.Base.Create(ctx, q)
				r.Properties = r.Properties.With("x", property.Computed())
				return r, err
			}
		},
		"Read finds the outputs": func(f *providertest.Fake) {
			f.OnRead = func(ctx context.Context, q providers.ReadRequest) (providers.ReadResponse, error) {
				r, err := f.Base.Read(ctx, q)
				r.Properties = r.Properties.With("read", property.Bool(true))
				return r, err
			}
		},
		"Diff finds a change where there is none": func(f *providertest.Fake) {
			f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
				return providers.DiffResponse{Changes: providers.DiffSome}, nil
			}
		},
		"needs a replacement, and the answer is": func(f *providertest.Fake) {
			f.OnDiff = func(ctx context.Context, q providers.DiffRequest) (providers.DiffResponse, error) {
				r, err := f.Base.Diff(ctx, q)
				r.ReplaceKeys, r.DetailedDiff = nil, nil
				return r, err
			}
		},
		"the preview of Update has changed what exists": func(f *providertest.Fake) {
			f.OnUpdate = func(ctx context.Context, q providers.UpdateRequest) (providers.UpdateResponse, error) {
				q.Preview = false
				return f.Base.Update(ctx, q)
			}
		},
		"a second Delete: it is gone": func(f *providertest.Fake) {
			n := 0
			f.OnDelete = func(ctx context.Context, q providers.DeleteRequest) error {
				if n++; n > 1 {
					return errors.New("it is gone")
				}
				return f.Base.Delete(ctx, q)
			}
		},
		"Read after Delete: not found": func(f *providertest.Fake) {
			f.OnRead = func(ctx context.Context, q providers.ReadRequest) (providers.ReadResponse, error) {
				r, err := f.Base.Read(ctx, q)
				if r.Absent {
					err = errors.New("not found")
				}
				return r, err
			}
		},
		"a Create whose context has ended has changed what exists": func(f *providertest.Fake) {
			f.OnCreate = func(ctx context.Context, q providers.CreateRequest) (providers.CreateResponse, error) {
				r, err := f.Base.Create(context.WithoutCancel(ctx), q)
				return r, errors.Join(err, ctx.Err())
			}
		},
		"Cancel: refused": func(f *providertest.Fake) {
			f.OnCancel = func(context.Context) error { return refused }
		},
	} {
		t.Run(text, func(t *testing.T) {
			cloud := providertest.NewCloud(providertest.Options{})
			recorder := &failures{TB: t}
			providertest.Check(recorder, func() providers.Provider {
				f := &providertest.Fake{Base: cloud.Provider("simple")}
				breaks(f)
				return f
			}, checkedCase(cloud))
			require.Contains(t, strings.Join(recorder.texts, "\n"), text)
		})
	}
}
