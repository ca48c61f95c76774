import os
import sys

import pulumi
from helper import GREETING

config = pulumi.Config()


class Thing(pulumi.CustomResource):
    value: pulumi.Output[str]

    def __init__(self, name, value, opts=None):
        super().__init__("test:index:Thing", name, {"value": value}, opts)


class Group(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("test:index:Group", name)
        Thing("child", "x", pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


first = Thing("first", config.require("greeting"))
second = Thing("second", first.value.apply(lambda v: v + "!"), pulumi.ResourceOptions(protect=True))
Thing("secret", config.require_secret("password"))
Group("group")
print("hello from the program")
print("and from its other stream", file=sys.stderr)
pulumi.log.warn("mind the gap")
pulumi.export("greeting", second.value)
pulumi.export("where", f"{pulumi.get_project()}/{pulumi.get_stack()}/{pulumi.runtime.is_dry_run()}")
pulumi.export("org", pulumi.get_organization())
pulumi.export("folder", os.getcwd())
pulumi.export("argv", sys.argv[1:])
pulumi.export("helper", GREETING)
pulumi.export("venv", os.environ.get("VIRTUAL_ENV"))
