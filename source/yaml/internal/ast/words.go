package ast

// shapes returns the numbers of arguments of the functions of the language (protocol.md 11.7). Functions with two get a list.
func shapes() map[string]int {
	return map[string]int{
		"fn::invoke": 1, "fn::join": 2, "fn::split": 2, "fn::select": 2, "fn::toJSON": 1, "fn::fromJSON": 1, "fn::toYAML": 1, "fn::toBase64": 1, "fn::fromBase64": 1,
		"fn::secret": 1, "fn::unsecret": 1, "fn::readFile": 1, "fn::filebase64": 1, "fn::filebase64sha256": 1, "fn::sha1": 1,
		"fn::length": 1, "fn::singleOrNone": 1, "fn::pulumiResourceName": 1, "fn::pulumiResourceType": 1, "fn::stackReference": 2,
		"fn::stringAsset": 1, "fn::fileAsset": 1, "fn::remoteAsset": 1, "fn::fileArchive": 1, "fn::remoteArchive": 1,
		"fn::assetArchive": 1,
	}
}

func functionNames() []string {
	var names []string
	for name := range shapes() {
		names = append(names, name)
	}
	return names
}

// optionNames returns the names of the options of resources.
func optionNames() []string {
	return []string{"additionalSecretOutputs", "aliases", "customTimeouts", "deleteBeforeReplace", "deletedWith", "dependsOn",
		"envVarMappings", "hideDiffs", "ignoreChanges", "import", "parent", "pluginDownloadURL", "protect", "provider", "providers",
		"replaceOnChanges", "replaceWith", "replacementTrigger", "retainOnDelete", "version"}
}

// sections returns the names of the sections of a program.
func sections() []string {
	return []string{"name", "description", "pulumi", "config", "configuration", "variables", "resources", "outputs", "components"}
}
