// Drives the command pulumi through the Automation API of Node.js. The argument is the folder of the test.
const assert = require("node:assert");
const path = require("node:path");
const pulumi = require("@pulumi/pulumi");
const auto = require("@pulumi/pulumi/automation");

const folder = process.argv[2];

class Thing extends pulumi.CustomResource {
    constructor(name, args) {
        super("simple:index:Thing", name, args);
    }
}

async function declare() {
    const settings = new pulumi.Config();
    const thing = new Thing("a", { value: settings.require("size") });
    return { id: thing.id, password: settings.requireSecret("password") };
}

const open = (program, stackName = "dev") => ({ stackName, projectName: "inline", program });

async function main() {
    const stack = await auto.LocalWorkspace.createStack(open(declare));
    const workspace = stack.workspace;

    // Settings.
    await stack.setConfig("simple:directory", { value: path.join(folder, "cloud") });
    await stack.setAllConfig({ size: { value: "1" }, password: { value: "hush", secret: true } });
    await stack.setAllConfigJson('{"inline:list": {"value": "[1]", "objectValue": [1]}}');
    const settings = await stack.getAllConfig();
    assert.deepStrictEqual(settings["inline:password"], { value: "hush", secret: true });
    assert.strictEqual(settings["inline:list"].value, "[1]");
    assert.strictEqual((await stack.getConfig("size")).value, "1");
    await stack.removeConfig("list");

    // A preview with a plan, and an update that follows it.
    const plan = path.join(folder, "plan.json");
    let seen = [];
    const preview = await stack.preview({ plan, onEvent: (e) => seen.push(e) });
    assert.deepStrictEqual(preview.changeSummary, { create: 2 });
    assert.notStrictEqual(seen.length, 0);
    let shown = "";
    seen = [];
    const up = await stack.up({ plan, message: "the first", onOutput: (text) => (shown += text), onEvent: (e) => seen.push(e) });
    assert.deepStrictEqual(up.outputs.password, { value: "hush", secret: true });
    assert.strictEqual(up.outputs.id.secret, false);
    assert.strictEqual(up.summary.kind, "update");
    assert.strictEqual(up.summary.result, "succeeded");
    assert.strictEqual(up.summary.message, "the first");
    assert.deepStrictEqual(up.summary.resourceChanges, { create: 2 });
    assert.strictEqual(up.summary.environment["exec.kind"], "auto.inline");
    assert.match(shown, /Updating \(dev\)/);
    assert.doesNotMatch(shown, /hush/);
    const made = seen.filter((e) => e.resOutputsEvent?.metadata.op === "create").map((e) => e.resOutputsEvent.metadata.type);
    assert.ok(made.includes("simple:index:Thing"), made.join());
    assert.ok(seen.at(-1).cancelEvent, "the last event says that there are no more");

    // A plan that does not allow what is to be done.
    await stack.setConfig("size", { value: "2" });
    await assert.rejects(stack.up({ plan }), /plan/);
    await assert.rejects(stack.preview({ expectNoChanges: true }), /no changes were expected/);

    // Refreshes, states, tags and history.
    assert.strictEqual((await stack.refresh()).summary.kind, "refresh");
    const state = await stack.exportStack();
    assert.ok(state.deployment.resources.some((r) => r.type === "simple:index:Thing"));
    await stack.importStack(state);
    await stack.setTag("team", "blue");
    assert.strictEqual((await stack.listTags()).team, "blue");
    const history = (await stack.history()).map((h) => [h.kind, h.result]);
    assert.deepStrictEqual(history, [["refresh", "succeeded"], ["update", "failed"], ["update", "succeeded"]]);
    assert.ok((await workspace.whoAmI()).user);

    // Errors.
    await assert.rejects(auto.LocalWorkspace.createStack(open(declare)), auto.StackAlreadyExistsError);
    await assert.rejects(auto.LocalWorkspace.selectStack(open(declare, "nothere")), auto.StackNotFoundError);
    const broken = async () => {
        throw new Error("I am broken");
    };
    const other = await auto.LocalWorkspace.createOrSelectStack(open(broken, "broken"));
    await assert.rejects(other.up(), /I am broken/);
    await other.workspace.removeStack("broken");

    // An update beside another one, and the end of that.
    let begin, goOn;
    const begun = new Promise((resolve) => (begin = resolve));
    const released = new Promise((resolve) => (goOn = resolve));
    const slow = async () => {
        begin();
        await released;
    };
    const first = stack.up({ program: slow }).catch((error) => error);
    await begun;
    const same = await auto.LocalWorkspace.selectStack({ stackName: "dev", workDir: workspace.workDir });
    await assert.rejects(same.up({ program: declare }), auto.ConcurrentUpdateError);
    await same.cancel();
    goOn();
    await first;
    await stack.up(); // the stack is not locked, and its state is whole

    // A local program.
    const local = await auto.LocalWorkspace.createOrSelectStack({ stackName: "dev", workDir: path.join(folder, "local") });
    assert.strictEqual((await local.up()).outputs.greeting.value, "hello");
    await local.destroy();
    await local.rename({ stackName: "test" });
    await local.workspace.removeStack("test");

    // The end.
    await assert.rejects(workspace.removeStack("dev"), /still has resources; removal rejected/);
    seen = [];
    assert.strictEqual((await stack.destroy({ onEvent: (e) => seen.push(e) })).summary.kind, "destroy");
    assert.notStrictEqual(seen.length, 0);
    assert.deepStrictEqual((await workspace.listStacks()).map((s) => s.name), ["dev"]);
    await workspace.removeStack("dev");
    assert.deepStrictEqual(await workspace.listStacks(), []);
    console.log("all of it works");
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
