package ast

// optionNames returns the names of the options of resources.
func optionNames() []string {
	return []string{"additionalSecretOutputs", "aliases", "customTimeouts", "deleteBeforeReplace", "deletedWith", "dependsOn",
		"envVarMappings", "hideDiffs", "ignoreChanges", "import", "parent", "pluginDownloadURL", "protect", "provider", "providers",
		"replaceOnChanges", "replaceWith", "replacementTrigger", "retainOnDelete", "version"}
}
