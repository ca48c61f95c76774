package cloud

// CredentialVariables are the environment variables with secrets of the stores and key services of this package. Those without a constant here are
// read by the libraries of the services.
func CredentialVariables() []string {
	return []string{
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN",
		"AZURE_STORAGE_CONNECTION_STRING", envGoogleCredentials, envGoogleToken, "PGPASSWORD", "VAULT_TOKEN", "VAULT_SERVER_TOKEN",
	}
}

// The variables with credentials for Google's services (state.md 4.2).
const (
	envGoogleCredentials = "GOOGLE_CREDENTIALS" // a JSON text
	envGoogleToken       = "GOOGLE_OAUTH_ACCESS_TOKEN"
)
