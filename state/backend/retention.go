package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// HistoryKey is the key of the setting for the history of a stack: an object whose field keep is how many operations the history keeps.
const HistoryKey = "sluice:history"

// KeptHistory reads the value of the setting [HistoryKey], a JSON text, for [Update.Keep]. An empty text keeps everything.
func KeptHistory(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	var setting struct {
		Keep *int `json:"keep"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&setting); err != nil || setting.Keep == nil || *setting.Keep < 1 {
		return 0, fmt.Errorf("config %s must be an object such as {\"keep\": 50}, and keep a whole number from 1, not %s; "+
			"set it with `sluice config set --path %s.keep 50`", HistoryKey, text, HistoryKey)
	}
	return *setting.Keep, nil
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
	var errs []error
	for _, at := range times[:max(0, len(times)-keep)] {
		for _, key := range files[at] {
			errs = append(errs, h.files.storage.store.Remove(ctx, key))
		}
	}
	return errors.Join(errs...)
}
