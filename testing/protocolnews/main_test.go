package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheProtocolIsListed(t *testing.T) {
	all := surface()
	require.Contains(t, all, "call pulumirpc.ResourceMonitor.RegisterResource(RegisterResourceRequest) RegisterResourceResponse")
	require.Contains(t, all, "field pulumirpc.RegisterResourceRequest.uses_output_values 44 bool")
	require.Contains(t, all, "value pulumirpc.RESOURCE_MONITOR_FEATURE_BYTE_STRING 13")
	require.Equal(t, []string{"b"}, difference([]string{"a", "b"}, []string{"a", "c"}))
}
