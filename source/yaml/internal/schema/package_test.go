package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokensAreListedAsProgramsWriteThem(t *testing.T) {
	for full, short := range map[string]string{
		"random:index/randomPet:RandomPet": "random:RandomPet",
		"random:index:RandomPet":           "random:RandomPet",
		"aws:s3/bucket:Bucket":             "aws:s3:Bucket",
		"aws:s3:Bucket":                    "aws:s3:Bucket",
		"aws:s3/other:Bucket":              "aws:s3/other:Bucket",
		"strange":                          "strange",
	} {
		require.Equal(t, []string{short}, tokens(newTable(map[string]json.RawMessage{full: nil})), full)
	}
}
