"""Drives the command pulumi through the Automation API of Python. The argument is the folder of the test."""

import os
import sys
import threading

import pulumi
from pulumi import automation as auto

folder = sys.argv[1]


class Thing(pulumi.CustomResource):
    value: pulumi.Output[str]

    def __init__(self, name, value):
        super().__init__("simple:index:Thing", name, {"value": value})


def declare():
    settings = pulumi.Config()
    thing = Thing("a", settings.require("size"))
    pulumi.export("value", thing.value)
    pulumi.export("password", settings.require_secret("password"))


def expect(got, want):
    assert got == want, f"{got!r} is not {want!r}"


def fails(kind, call):
    """Returns the message of the error of that kind that the call raises."""
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


stack = auto.create_stack(stack_name="dev", project_name="inline", program=declare)
workspace = stack.workspace

# Settings.
stack.set_config("simple:directory", auto.ConfigValue(os.path.join(folder, "cloud")))
stack.set_all_config({"size": auto.ConfigValue("1"), "password": auto.ConfigValue("hush", secret=True)})
stack.set_all_config_json('{"inline:list": {"value": "[1]", "objectValue": [1]}}')
settings = stack.get_all_config()
expect((settings["inline:password"].value, settings["inline:password"].secret), ("hush", True))
expect(settings["inline:list"].value, "[1]")
expect(stack.get_config("size").value, "1")
stack.remove_config("list")

# A preview with a plan, and an update that follows it.
plan = os.path.join(folder, "plan.json")
seen = []
preview = stack.preview(plan=plan, on_event=seen.append)
expect(preview.change_summary, {auto.OpType.CREATE: 2})
assert seen, "there are events"
lines, seen = [], []
result = stack.up(plan=plan, message="the first", on_output=lines.append, on_event=seen.append)
expect({name: (o.value, o.secret) for name, o in result.outputs.items()}, {"value": ("1", False), "password": ("hush", True)})
expect((result.summary.kind, result.summary.result, result.summary.message), ("update", "succeeded", "the first"))
expect(result.summary.resource_changes, {"create": 2})
expect(result.summary.environment["exec.kind"], "auto.inline")
assert any("Updating (dev)" in line for line in lines), lines
assert not any("hush" in line for line in lines), lines
made = [e.res_outputs_event.metadata.type for e in seen if e.res_outputs_event and e.res_outputs_event.metadata.op == auto.OpType.CREATE]
assert "simple:index:Thing" in made, made
assert seen[-1].cancel_event is not None, "the last event says that there are no more"

# A plan that does not allow what is to be done.
stack.set_config("size", auto.ConfigValue("2"))
assert "plan" in fails(auto.CommandError, lambda: stack.up(plan=plan))
fails(auto.CommandError, lambda: stack.preview(expect_no_changes=True))

# Refreshes, states, tags and history.
expect(stack.refresh().summary.kind, "refresh")
state = stack.export_stack()
assert any(r["type"] == "simple:index:Thing" for r in state.deployment["resources"])
stack.import_stack(state)
stack.set_tag("team", "blue")
expect(stack.list_tags()["team"], "blue")
expect([(h.kind, h.result) for h in stack.history()], [("refresh", "succeeded"), ("update", "failed"), ("update", "succeeded")])
assert workspace.who_am_i().user


# Errors.
def broken():
    raise Exception("I am broken")


fails(auto.StackAlreadyExistsError, lambda: auto.create_stack(stack_name="dev", project_name="inline", program=declare))
fails(auto.StackNotFoundError, lambda: auto.select_stack(stack_name="nothere", project_name="inline", program=declare))
other = auto.create_or_select_stack(stack_name="broken", project_name="inline", program=broken)
assert "I am broken" in fails(auto.InlineSourceRuntimeError, other.up)
other.workspace.remove_stack("broken")

# An update beside another one, and the end of that.
begun, go_on, first = threading.Event(), threading.Event(), []


def slow():
    begun.set()
    go_on.wait()


def update():
    try:
        first.append(stack.up(program=slow))
    except auto.CommandError as error:
        first.append(error)


updating = threading.Thread(target=update)
updating.start()
begun.wait()
same = auto.select_stack(stack_name="dev", project_name="inline", program=declare)
fails(auto.ConcurrentUpdateError, same.up)
same.cancel()
go_on.set()
updating.join()
stack.up()  # the stack is not locked, and its state is whole

# A local program.
local = auto.create_or_select_stack(stack_name="dev", work_dir=os.path.join(folder, "local"))
expect(local.up().outputs["greeting"].value, "hello")
local.destroy()
local.rename("test")
local.workspace.remove_stack("test")

# The end.
assert "still has resources; removal rejected" in fails(auto.CommandError, lambda: workspace.remove_stack("dev"))
seen = []
expect(stack.destroy(on_event=seen.append).summary.kind, "destroy")
assert seen, "there are events"
expect([s.name for s in workspace.list_stacks()], ["dev"])
workspace.remove_stack("dev")
expect(workspace.list_stacks(), [])
print("all of it works")
