package monitor

import (
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// Feature is an ability of the engine that SDKs query by name ([protocol.md 4.2]).
//
// [protocol.md 4.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#42-features
type Feature string

// The features that a server has ([steps.md 1.5]).
//
// [steps.md 1.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#15-supportsfeature
const (
	Secrets             Feature = "secrets"
	ResourceReferences  Feature = "resourceReferences"
	OutputValues        Feature = "outputValues"
	AliasSpecs          Feature = "aliasSpecs"
	ReplacementTrigger  Feature = "replacementTrigger"
	DeletedWith         Feature = "deletedWith"
	ReplaceWith         Feature = "replaceWith"
	Transforms          Feature = "transforms"
	InvokeTransforms    Feature = "invokeTransforms"
	Parameterization    Feature = "parameterization"
	ResourceHooks       Feature = "resourceHooks"
	ErrorHooks          Feature = "errorHooks"
	SendsOptionsToHooks Feature = "sendsOptionsToHooks"

	// ByteStrings are strings that are not UTF-8.
	ByteStrings Feature = "byteString"
	// InvokeDependsOn answers an invoke with "unknown" while a resource that it depends on is still to be made.
	InvokeDependsOn Feature = "invokeDependsOn"
	// InvokeParent finds the provider of an invoke by its parent.
	InvokeParent Feature = "invokeParent"
	// StateMigrations rewrites the recorded state of a resource, and of those below it, with functions of the program.
	StateMigrations Feature = "stateMigrations"
	// InvokeOutputValues, CallOutputValues and RegisterResourceOutputValues accept outputs with their dependencies in arguments and inputs. The
	// first two also return them to callers that accept them.
	InvokeOutputValues           Feature = "invokeOutputValues"
	CallOutputValues             Feature = "callOutputValues"
	RegisterResourceOutputValues Feature = "registerResourceOutputValues"
)

// featureNumbers are the numbers of the same features in GetDeploymentInfo.
func featureNumbers() map[Feature]pulumirpc.ResourceMonitorFeature {
	return map[Feature]pulumirpc.ResourceMonitorFeature{
		Secrets:             pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_SECRETS,
		ResourceReferences:  pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
		OutputValues:        pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_OUTPUT_VALUES,
		AliasSpecs:          pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
		ReplacementTrigger:  pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_REPLACEMENT_TRIGGER,
		DeletedWith:         pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_DELETED_WITH,
		ReplaceWith:         pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_REPLACE_WITH,
		Transforms:          pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_TRANSFORMS,
		InvokeTransforms:    pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_TRANSFORMS,
		Parameterization:    pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_PARAMETERIZATION,
		ResourceHooks:       pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS,
		ErrorHooks:          pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_ERROR_HOOKS,
		SendsOptionsToHooks: pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_SENDS_OPTIONS_TO_HOOKS,
		ByteStrings:         pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_BYTE_STRING,
		InvokeDependsOn:     pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_DEPENDS_ON,
		InvokeParent:        pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_PARENT,
		StateMigrations:     pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_STATE_MIGRATIONS,
		InvokeOutputValues:  pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_INVOKE_OUTPUT_VALUES,
		CallOutputValues:    pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_CALL_OUTPUT_VALUES,

		RegisterResourceOutputValues: pulumirpc.ResourceMonitorFeature_RESOURCE_MONITOR_FEATURE_REGISTER_RESOURCE_OUTPUT_VALUES,
	}
}

func allFeatures() map[Feature]bool {
	all := make(map[Feature]bool)
	for f := range featureNumbers() {
		all[f] = true
	}
	return all
}
