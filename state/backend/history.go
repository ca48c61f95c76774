package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/state/backend/internal/compression"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/store"
)

// history are the records of the operations on a stack, and the copies of the stack file that belong to them (state.md
// 4.7, 4.8).
//
// Invariant: a copy shares nothing with the stack file, so that damage to the stack file does not affect it.
type history struct{ files stackFiles }

// write records a finished operation, backs the stack file up, and removes what is not kept any more.
func (h history) write(ctx context.Context, u Update) error {
	if err := h.add(ctx, u); err != nil {
		return err
	}
	return h.prune(ctx, u.Keep)
}

func (h history) add(ctx context.Context, u Update) error {
	if err := h.files.storage.prepareWrite(ctx); err != nil {
		return err
	}
	if u.Environment == nil {
		u.Environment = map[string]string{}
	}
	if len(u.Config) == 0 {
		u.Config = json.RawMessage("{}")
	}
	b, err := json.MarshalIndent(u, "", "    ")
	if err != nil {
		return fmt.Errorf("history of stack %s: %w", h.files.ref, err)
	}
	now := h.files.storage.options.Now().UnixNano()
	stem := fmt.Sprintf("%s/%s-%d", h.files.keys().History(), h.files.ref.Name, now)
	extension := ".json" + h.files.storage.format.Extension()
	packed, err := h.files.storage.format.Pack(b)
	if err != nil {
		return err
	}
	if _, err := h.files.storage.store.Write(ctx, stem+".history"+extension, packed, store.Condition{}); err != nil {
		return fmt.Errorf("history of stack %s: %w", h.files.ref, err)
	}
	current, info, err := h.files.file().Current(ctx)
	if err != nil || info.Key == "" {
		return err
	}
	// Real copies, unlike the .bak file: damage to the stack file must not affect them.
	kept := ".json" + strings.TrimPrefix(current, h.files.keys().File())
	if err := h.files.storage.store.Copy(ctx, current, stem+".checkpoint"+kept); err != nil {
		return fmt.Errorf("history of stack %s: %w", h.files.ref, err)
	}
	if h.files.storage.options.flag("DISABLE_CHECKPOINT_BACKUPS") || h.files.storage.options.isTrue("PULUMI_DISABLE_CHECKPOINT_BACKUPS") {
		return nil
	}
	backup := fmt.Sprintf("%s/%s.%d%s", h.files.keys().Backups(), h.files.ref.Name, now, kept)
	if err := h.files.storage.store.Copy(ctx, current, backup); err != nil {
		return fmt.Errorf("back up stack %s: %w", h.files.ref, err)
	}
	return nil
}

// prune removes all but the newest records of the history, with the copies of the stack file that belong to them, and all but as many backups. The
// stack file stays.
func (h history) prune(ctx context.Context, keep int) error {
	if keep < 1 {
		return nil
	}
	err := errors.Join(
		h.pruneFolder(ctx, h.files.keys().History()+"/", h.files.ref.Name+"-", keep),
		h.pruneFolder(ctx, h.files.keys().Backups()+"/", h.files.ref.Name+".", keep))
	if err != nil {
		return fmt.Errorf("remove old entries of the history of stack %s: %w", h.files.ref, err)
	}
	return nil
}

// pruneFolder removes the files of all but the newest times. Names begin with prefix and the time. Other files stay.
func (h history) pruneFolder(ctx context.Context, folder, prefix string, keep int) error {
	infos, err := h.files.storage.store.List(ctx, folder+prefix)
	if err != nil {
		return err
	}
	files := map[int64][]string{} // by their time
	for _, i := range infos {
		stamp, _, _ := strings.Cut(strings.TrimPrefix(i.Key, folder+prefix), ".")
		if at, err := strconv.ParseInt(stamp, 10, 64); err == nil {
			files[at] = append(files[at], i.Key)
		}
	}
	times := make([]int64, 0, len(files))
	for at := range files {
		times = append(times, at)
	}
	slices.Sort(times)
	var old []string
	for _, at := range times[:max(0, len(times)-keep)] {
		old = append(old, files[at]...)
	}
	return h.files.storage.store.Remove(ctx, old...)
}

// list returns the recorded operations, the newest first, and a warning for each that cannot be read.
func (h history) list(ctx context.Context) (updates []Update, warnings []string, err error) {
	infos, err := h.infos(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range infos {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		u, err := h.readUpdate(ctx, infos, i)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("a record of the history was skipped: %v", err))
			continue
		}
		updates = append(updates, u)
	}
	return updates, warnings, nil
}

// last returns the newest recorded operation that is accepted, nil if there is none. Records that cannot be read are skipped.
func (h history) last(ctx context.Context, accept func(Update) bool) (*Update, error) {
	infos, err := h.infos(ctx)
	if err != nil {
		return nil, err
	}
	for i := range infos {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if u, err := h.readUpdate(ctx, infos, i); err == nil && accept(u) {
			return &u, nil
		}
	}
	return nil, nil
}

// infos lists the records, the newest first.
func (h history) infos(ctx context.Context) ([]store.Info, error) {
	infos, err := h.files.storage.store.List(ctx, h.files.keys().History()+"/")
	if err != nil {
		return nil, fmt.Errorf("history of stack %s: %w", h.files.ref, err)
	}
	slices.Reverse(infos) // names end in the time and are sorted
	return slices.DeleteFunc(infos, func(i store.Info) bool {
		return !strings.HasSuffix(compression.TrimExtension(i.Key), ".history.json")
	}), nil
}

// version returns the copy of the stack file after an operation, and its name. The oldest operation has the number 1; those
// whose records cannot be read count, too.
func (h history) version(ctx context.Context, number int) (content []byte, name string, err error) {
	infos, err := h.infos(ctx)
	if err != nil {
		return nil, "", err
	}
	missing := &VersionError{Stack: h.files.ref.Name, Version: number, Last: len(infos)}
	if number < 1 || number > len(infos) {
		return nil, "", missing
	}
	stem := strings.TrimSuffix(compression.TrimExtension(infos[len(infos)-number].Key), ".history.json")
	found, err := h.files.storage.store.List(ctx, stem+".checkpoint.json")
	if err != nil {
		return nil, "", fmt.Errorf("history of stack %s: %w", h.files.ref, err)
	}
	if len(found) == 0 {
		return nil, "", missing
	}
	name = h.files.storage.store.Name(found[0].Key)
	content, _, err = h.files.storage.store.Read(ctx, found[0].Key)
	if err == nil {
		content, err = compression.Unpack(content)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return content, name, nil
}

// readUpdate reads one of all records.
func (h history) readUpdate(ctx context.Context, all []store.Info, i int) (u Update, err error) {
	key := all[i].Key
	b, _, err := h.files.storage.store.Read(ctx, key)
	if err == nil {
		b, err = compression.Unpack(b)
	}
	if err == nil {
		err = json.Unmarshal(b, &u)
	}
	if err != nil {
		return u, fmt.Errorf("%s: %w", h.files.storage.store.Name(key), err)
	}
	u.Number = len(all) - i
	return u, nil
}

// moveTo moves the history to another name of the stack. The backups stay (state.md 7.7). If it was interrupted, a second
// call completes it.
func (h history) moveTo(ctx context.Context, to stackFiles) error {
	folder := h.files.keys().History() + "/"
	infos, err := h.files.storage.store.List(ctx, folder)
	if err != nil {
		return err
	}
	for _, i := range infos {
		rest, ours := strings.CutPrefix(i.Key, folder+h.files.ref.Name+"-")
		if !ours {
			continue
		}
		if err := h.files.storage.store.Copy(ctx, i.Key, to.keys().History()+"/"+to.ref.Name+"-"+rest); err != nil {
			return err
		}
		if err := h.files.storage.store.Remove(ctx, i.Key); err != nil {
			return err
		}
	}
	return nil
}

// recordInterrupted writes the history of an interrupted operation. It ended, as far as is known, with the last change that has a time. Its
// configuration is that of the latest record: no other is available, and later operations look for one there.
func (h history) recordInterrupted(ctx context.Context, r *journal.Report) error {
	u := Update{
		Kind: cmp.Or(r.Operation, "update"), StartTime: r.Start.Unix(), EndTime: r.Start.Unix(), Result: ResultFailed,
		Message: "interrupted, and recovered from its journal", ResourceChanges: map[string]int{},
	}
	for _, c := range shownChanges(r.Done) {
		u.ResourceChanges[c.Op()]++
		u.EndTime = max(u.EndTime, c.Resource.Modified.Unix())
	}
	if before, err := h.last(ctx, func(Update) bool { return true }); err == nil && before != nil {
		u.Config = before.Config
	}
	return h.write(ctx, u)
}

// fileRun is an operation on a stack file. Nobody follows it; its end is in the history.
type fileRun struct {
	history history
	preview bool
}

var _ Run = fileRun{}

// Page implements [Run].
func (fileRun) Page() string { return "" }

// Events implements [Run].
func (fileRun) Events() io.Writer { return nil }

// Policies implements [Run].
func (fileRun) Policies() []RequiredPolicy { return nil }

// End implements [Run].
func (f fileRun) End(ctx context.Context, u Update) error {
	if f.preview {
		return nil
	}
	return f.history.write(ctx, u)
}

// shownChanges leaves out default providers, which no program declares (steps.md 1.6).
func shownChanges(done []journal.Completed) []journal.Completed {
	return slices.DeleteFunc(slices.Clone(done), func(c journal.Completed) bool { return c.Resource.URN.IsDefaultProvider() })
}
