package keystore

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zalando/go-keyring"
)

func TestAKeyIsMadeOnceAndKept(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nothing")
	keyring.MockInit()
	k := Key{Service: "tool", Account: "key", Mark: "tool-v1"}
	_, err := k.Get()
	require.ErrorIs(t, err, keyring.ErrNotFound)
	made, err := k.Ensure()
	require.NoError(t, err)
	require.Len(t, made, KeySize)
	again, err := k.Ensure()
	require.NoError(t, err)
	require.Equal(t, made, again)
	require.NoError(t, k.Delete())
	require.NoError(t, k.Delete())
	_, err = k.Get()
	require.ErrorIs(t, err, keyring.ErrNotFound)
}

func TestKeysOfAnotherFormAreNotReplaced(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nothing")
	keyring.MockInit()
	k := Key{Service: "tool", Account: "key", Mark: "tool-v1"}
	for text, unavailable := range map[string]bool{"tool-v1:tpm:AAAA": true, "tool-v1:raw:AAAA": false, "tool-v1:raw:?": false, "": true} {
		require.NoError(t, keyring.Set(k.Service, k.Account, text))
		_, err := k.Ensure()
		require.Error(t, err, text)
		require.Equal(t, unavailable, errors.Is(err, ErrUnavailable), text)
		kept, err := keyring.Get(k.Service, k.Account)
		require.NoError(t, err)
		require.Equal(t, text, kept)
	}
	require.NoError(t, keyring.Set(k.Service, k.Account, "tool-v1:raw:BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="))
	key, err := k.Get()
	require.NoError(t, err)
	require.Equal(t, bytes.Repeat([]byte{7}, KeySize), key)
}

func TestAStoreThatFailsIsNotAMissingKey(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nothing")
	keyring.MockInitWithError(errors.New("locked"))
	_, err := Key{Service: "tool", Account: "key"}.Ensure()
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "locked")
}
