"""Declares independent resources with Pulumi's Python SDK, as bench/program does in Go."""

import os

import pulumi

SIZE = int(os.environ["BENCH_SIZE"])


class Thing(pulumi.CustomResource):
    arn: pulumi.Output[str]

    def __init__(self, name, inputs):
        super().__init__("simple:index:Thing", name, {"arn": None, **inputs})


for i in range(SIZE):
    Thing(f"thing-{i:05d}", {"index": i, "label": "benchmark", "enabled": True})
