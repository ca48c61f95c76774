package backend

import (
	"encoding/json"
	"fmt"
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
		return 0, fmt.Errorf("config %s must be an object such as {\"keep\": 50}, and keep a whole number from 1, not %s", HistoryKey, text)
	}
	return *setting.Keep, nil
}
