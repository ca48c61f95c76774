package graphviz

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/sluice-iac/sluice/internal/platform/cache"
)

//go:embed graphviz.wasm
var code []byte

// Format is a writer of Graphviz.
type Format string

// The writers.
const (
	SVG  Format = "svg"
	JSON Format = "json" // with drawing instructions: https://graphviz.org/docs/outputs/json/
)

// maxPages bounds the memory of Graphviz, in pages of 64 KiB.
const maxPages = 1 << 14

// Layout lays out a graph in the language of Graphviz with its engine "dot", and returns the output of a writer. It returns the
// error of ctx when that is cancelled.
func Layout(ctx context.Context, source string, format Format) ([]byte, error) {
	if strings.ContainsRune(source, 0) {
		return nil, errors.New("lay out the graph: it contains a zero byte")
	}
	m, err := start(ctx, caches())
	if err == nil {
		defer m.runtime.Close(context.WithoutCancel(ctx))
		var out []byte
		if out, err = m.layout(ctx, source, format); err == nil {
			return out, nil
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("lay out the graph: %w", err)
}

// caches have the machine code, which takes longer to compile than a graph to lay out. The first one also has that of earlier processes, if there
// is a place for it. If its files cannot be used, the second one compiles: they may be damaged, or the disk may be full.
var caches = sync.OnceValue(func() (all []wazero.CompilationCache) {
	if dir, err := cache.Folder("graphviz", string(code)); err == nil {
		if c, err := wazero.NewCompilationCacheWithDir(dir); err == nil {
			all = append(all, c)
		}
	}
	return append(all, wazero.NewCompilationCache())
})

// machine is one instance of Graphviz, for one graph. Its methods use pointers, which are addresses in its own memory. Its memory
// is released with the instance.
type machine struct {
	runtime wazero.Runtime
	module  api.Module
	says    *bytes.Buffer // its standard error
}

// start starts an instance with the first cache that can be used.
func start(ctx context.Context, caches []wazero.CompilationCache) (m *machine, err error) {
	for _, c := range caches {
		if m, err = startWith(ctx, c); err == nil {
			return m, nil
		}
	}
	return nil, err
}

func startWith(ctx context.Context, c wazero.CompilationCache) (*machine, error) {
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages).WithCloseOnContextDone(true).WithCompilationCache(c)
	r := wazero.NewRuntimeWithConfig(ctx, config)
	says := &bytes.Buffer{}
	module, err := instantiate(ctx, r, says)
	if err != nil {
		return nil, errors.Join(err, r.Close(context.WithoutCancel(ctx)))
	}
	return &machine{r, module, says}, nil
}

func instantiate(ctx context.Context, r wazero.Runtime, says io.Writer) (api.Module, error) {
	compiled, err := r.CompileModule(ctx, code)
	if err != nil {
		return nil, err
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	if err := refuseCallbacks(ctx, r, compiled); err != nil {
		return nil, err
	}
	return r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithStderr(says))
}

// refuseCallbacks provides the functions by which the module would call plugins in Go. There are no such plugins.
func refuseCallbacks(ctx context.Context, r wazero.Runtime, compiled wazero.CompiledModule) error {
	const host = "env"
	env := r.NewHostModuleBuilder(host)
	for _, f := range compiled.ImportedFunctions() {
		module, name, _ := f.Import()
		if module != host {
			continue
		}
		refuse := func(context.Context, api.Module, []uint64) { panic("unexpected callback " + name) }
		env.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(refuse), f.ParamTypes(), f.ResultTypes()).Export(name)
	}
	_, err := env.Instantiate(ctx)
	return err
}

func (m *machine) layout(ctx context.Context, source string, format Format) ([]byte, error) {
	gvc, err := m.context(ctx)
	if err != nil {
		return nil, err
	}
	text, err := m.text(ctx, source)
	if err != nil {
		return nil, err
	}
	g, err := m.result(ctx, "memRead", text)
	if err != nil {
		return nil, err
	}
	if g == 0 {
		return nil, m.failure()
	}
	engine, err := m.text(ctx, "dot")
	if err != nil {
		return nil, err
	}
	if status, err := m.result(ctx, "Context_layout", gvc, g, engine); err != nil || status != 0 {
		return nil, errors.Join(err, m.failure())
	}
	return m.render(ctx, gvc, g, format)
}

// context creates a context of Graphviz with the built-in plugins. Their list has to end with an empty one.
func (m *machine) context(ctx context.Context) (uint64, error) {
	builtin, err := m.result(ctx, "SymList_default")
	if err != nil {
		return 0, err
	}
	end, err := m.result(ctx, "SymList_zero")
	if err != nil {
		return 0, err
	}
	memory := m.module.Memory()
	n, known := memory.ReadUint32Le(uint32(builtin))
	old, known2 := memory.ReadUint32Le(uint32(builtin) + 4)
	items, known3 := memory.Read(old, n*8)
	if !known || !known2 || !known3 {
		return 0, errBounds
	}
	data, err := m.allocate(ctx, len(items)+8)
	if err != nil {
		return 0, err
	}
	list, err := m.allocate(ctx, 8)
	if err != nil {
		return 0, err
	}
	if !memory.Write(uint32(data), items) || !memory.WriteUint64Le(uint32(data)+n*8, end) ||
		!memory.WriteUint32Le(uint32(list), n+1) || !memory.WriteUint32Le(uint32(list)+4, uint32(data)) {
		return 0, errBounds
	}
	const demandLoading = 0
	return m.result(ctx, "getContextWithPlugins", list, demandLoading)
}

func (m *machine) render(ctx context.Context, gvc, g uint64, format Format) ([]byte, error) {
	name, err := m.text(ctx, string(format))
	if err != nil {
		return nil, err
	}
	data, err := m.allocate(ctx, 4)
	if err != nil {
		return nil, err
	}
	length, err := m.allocate(ctx, 4)
	if err != nil {
		return nil, err
	}
	if status, err := m.result(ctx, "Context_renderData", gvc, g, name, data, length); err != nil || status != 0 {
		return nil, errors.Join(err, m.failure())
	}
	memory := m.module.Memory()
	text, known := memory.ReadUint32Le(uint32(data)) // the result is a pair of address and length
	at, known2 := memory.ReadUint32Le(text)
	n, known3 := memory.ReadUint32Le(text + 4)
	out, known4 := memory.Read(at, n)
	if !known || !known2 || !known3 || !known4 {
		return nil, errBounds
	}
	return append([]byte(nil), out...), nil // memory is released with the instance
}

var errBounds = errors.New("Graphviz returned an address outside of its memory")

// failure returns Graphviz's own message about its failure.
func (m *machine) failure() error {
	if text := strings.TrimSpace(m.says.String()); text != "" {
		return fmt.Errorf("%q", text)
	}
	return errors.New("Graphviz did not say why")
}

// result calls a function that writes its result to the address given as its last argument.
func (m *machine) result(ctx context.Context, name string, args ...uint64) (uint64, error) {
	at, err := m.allocate(ctx, 4)
	if err != nil {
		return 0, err
	}
	if _, err := m.module.ExportedFunction("wasm_bridge_"+name).Call(ctx, append(args, at)...); err != nil {
		return 0, err
	}
	v, known := m.module.Memory().ReadUint32Le(uint32(at))
	if !known {
		return 0, errBounds
	}
	return uint64(v), nil
}

// text copies a text into the memory.
func (m *machine) text(ctx context.Context, s string) (uint64, error) {
	at, err := m.allocate(ctx, len(s)+1)
	if err == nil && !m.module.Memory().Write(uint32(at), append([]byte(s), 0)) {
		err = errBounds
	}
	return at, err
}

func (m *machine) allocate(ctx context.Context, n int) (uint64, error) {
	at, err := m.module.ExportedFunction("malloc").Call(ctx, uint64(n))
	if err != nil {
		return 0, err
	}
	if at[0] == 0 {
		return 0, errors.New("it is too large: Graphviz has no memory left")
	}
	return at[0], nil
}
