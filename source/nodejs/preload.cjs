// Loaded into node before the program.
"use strict";

// In many versions of Node.js util.inspect never ends, and takes all memory, when it
// colours the stack of an error with a line like "node_modules/@scope/file.js" (nodejs/node issue 64011). The SDK reports
// what a program throws in that way, and its own source maps give such lines. Colours of errors are removed from messages
// anyway, so they are left out here.
const util = require("node:util");
const inspect = util.inspect;

function inspectWithoutColouredErrors(value, options, ...rest) {
    if (options !== null && typeof options === "object" && options.colors && util.types.isNativeError(value)) {
        options = { ...options, colors: false };
    }
    return inspect(value, options, ...rest);
}

for (const key of Reflect.ownKeys(inspect)) {
    if (!["length", "name", "prototype"].includes(key)) {
        Object.defineProperty(inspectWithoutColouredErrors, key, Object.getOwnPropertyDescriptor(inspect, key));
    }
}
util.inspect = inspectWithoutColouredErrors;

const debuggable = /[\\/]@pulumi[\\/]pulumi[\\/]runtime[\\/]debuggable\.js$/;

// The SDK notes the stack of each promise, to show the promises that are left in the end. source-map-support makes the text of a stack, which takes a
// third of the time of a program that declares many resources. Here the SDK gets an object that makes the text when it is shown.
class NotedStack {
    static #showing = false;
    #text;
    constructor(text) {
        this.#text = text;
    }
    toString() {
        NotedStack.#showing = true; // the function that makes the text may call the one that it has replaced
        try {
            return String(this.#text());
        } catch (e) {
            return `the stack cannot be shown: ${e}`; // an error here would hide that promises are left
        } finally {
            NotedStack.#showing = false;
        }
    }
    static isNoted(frames) {
        const top = frames?.[0];
        return !NotedStack.#showing && top?.getFunctionName() === "debuggablePromise" && debuggable.test(top.getFileName() ?? "");
    }
}

// noteStacks replaces Error.prepareStackTrace, the function that makes the texts of stacks, by an accessor. Whoever reads a function, sets another one
// for a while and sets the former one again, as many packages do, finds what there would be without it.
function noteStacks() {
    let prepare = Error.prepareStackTrace; // as it was set
    const noting = new WeakMap(), noted = new WeakMap(); // from a function to the one that is read in its place, and back
    const wrap = (made) => {
        const wrapper = function (error, frames) {
            return NotedStack.isNoted(frames) ? new NotedStack(() => made.call(this, error, frames)) : made.call(this, error, frames);
        };
        noting.set(made, wrapper);
        noted.set(wrapper, made);
        return wrapper;
    };
    Object.defineProperty(Error, "prepareStackTrace", {
        configurable: true,
        get: () => (typeof prepare === "function" ? (noting.get(prepare) ?? wrap(prepare)) : prepare),
        set: (value) => {
            prepare = noted.get(value) ?? value;
        },
    });
}

noteStacks();

// keepCompiled makes node keep the compiled code of modules in a folder, and use it in later processes. Versions before 22.8 cannot.
function keepCompiled(folder) {
    try {
        require("node:module").enableCompileCache?.(folder);
    } catch {
        // It is only faster.
    }
}
