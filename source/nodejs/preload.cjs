// Loaded into node before the program. In many versions of Node.js util.inspect never ends, and takes all memory, when it
// colours the stack of an error with a line like "node_modules/@scope/file.js" (nodejs/node issue 64011). The SDK reports
// what a program throws in that way, and its own source maps give such lines. Colours of errors are removed from messages
// anyway, so they are left out here.
"use strict";
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

// keepCompiled makes node keep the compiled code of modules in a folder, and use it in later processes. Versions before 22.8 cannot.
function keepCompiled(folder) {
    try {
        require("node:module").enableCompileCache?.(folder);
    } catch {
        // It is only faster.
    }
}
