// Protocolnews prints what a newer SDK module adds to the protocol: services, calls, messages, fields and values of enumerations that the
// module in go.mod does not have, and those that are gone.
//
//	go run ./testing/protocolnews             compare with the newest version that the module proxy has
//	go run ./testing/protocolnews v3.274.1    compare with this version
//	go run ./testing/protocolnews -list       print the protocol of the module in go.mod
//
// It changes no file of the repository.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/pulumi/pulumi/sdk/v3/proto/go"         // registers the messages
	_ "github.com/pulumi/pulumi/sdk/v3/proto/go/codegen" // registers the messages
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

const module = "github.com/pulumi/pulumi/sdk/v3"

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "protocolnews:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	version := "latest"
	if len(args) > 0 {
		version = args[0]
	}
	own := surface()
	if version == "-list" {
		fmt.Println(strings.Join(own, "\n"))
		return nil
	}
	theirs, found, err := surfaceOf(ctx, version)
	if err != nil {
		return err
	}
	added, removed := difference(theirs, own), difference(own, theirs)
	if len(added)+len(removed) == 0 {
		fmt.Printf("%s has nothing that go.mod's version lacks\n", found)
		return nil
	}
	fmt.Printf("%s differs from go.mod's version:\n", found)
	for _, x := range added {
		fmt.Println("  +", x)
	}
	for _, x := range removed {
		fmt.Println("  -", x)
	}
	return nil
}

// surfaceOf returns the protocol of another version of the module, and what that version is called. It runs this program with another go.mod.
func surfaceOf(ctx context.Context, version string) (lines []string, found string, err error) {
	dir, err := os.MkdirTemp("", "protocolnews")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, "", fmt.Errorf("run it at the top of the repository: %w", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return nil, "", err
		}
	}
	modfile := "-modfile=" + filepath.Join(dir, "go.mod")
	if _, err := goCommand(ctx, "get", modfile, module+"@"+version); err != nil {
		return nil, "", err
	}
	if found, err = goCommand(ctx, "list", modfile, "-m", module); err != nil {
		return nil, "", err
	}
	text, err := goCommand(ctx, "run", modfile, "./testing/protocolnews", "-list")
	return strings.Split(text, "\n"), found, err
}

func goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, failure.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// difference returns the elements of a that b does not have. Both are sorted.
func difference(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(x string) bool {
		_, has := slices.BinarySearch(b, x)
		return has
	})
}

// surface returns everything that the registered files of the protocol define, one line for each thing, sorted.
func surface() []string {
	var out []string
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if p := f.Package(); p == "pulumirpc" || strings.HasPrefix(string(p), "pulumirpc.") || p == "codegen" {
			for s := range each(f.Services().Len(), f.Services().Get) {
				for m := range each(s.Methods().Len(), s.Methods().Get) {
					out = append(out, fmt.Sprintf("call %s(%s) %s", m.FullName(), m.Input().Name(), m.Output().Name()))
				}
			}
			out = messages(enums(out, f.Enums()), f.Messages())
		}
		return true
	})
	slices.Sort(out)
	return out
}

func messages(out []string, list protoreflect.MessageDescriptors) []string {
	for m := range each(list.Len(), list.Get) {
		if m.IsMapEntry() {
			continue
		}
		out = append(out, fmt.Sprintf("message %s", m.FullName()))
		for f := range each(m.Fields().Len(), m.Fields().Get) {
			out = append(out, fmt.Sprintf("field %s %d %s", f.FullName(), f.Number(), kindOf(f)))
		}
		out = messages(enums(out, m.Enums()), m.Messages())
	}
	return out
}

func enums(out []string, list protoreflect.EnumDescriptors) []string {
	for e := range each(list.Len(), list.Get) {
		for v := range each(e.Values().Len(), e.Values().Get) {
			out = append(out, fmt.Sprintf("value %s %d", v.FullName(), v.Number()))
		}
	}
	return out
}

func kindOf(f protoreflect.FieldDescriptor) string {
	kind := f.Kind().String()
	switch {
	case f.Message() != nil:
		kind = string(f.Message().FullName())
	case f.Enum() != nil:
		kind = string(f.Enum().FullName())
	}
	if f.IsList() {
		kind = "repeated " + kind
	}
	return kind
}

// each returns the elements of a list of descriptors.
func each[T any](n int, get func(int) T) func(yield func(T) bool) {
	return func(yield func(T) bool) {
		for i := range n {
			if !yield(get(i)) {
				return
			}
		}
	}
}
