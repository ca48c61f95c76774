// Declares a resource whose input is never known, and counts the stacks for which a text was made.
const pulumi = require("@pulumi/pulumi");

const { prepareStackTrace } = Error; // that of source-map-support
let texts = 0;
Error.prepareStackTrace = (...args) => {
    texts++;
    return prepareStackTrace(...args);
};

class Thing extends pulumi.CustomResource {
    constructor(name, args) {
        super("test:index:Thing", name, args);
    }
}

for (let i = 0; i < 10; i++) {
    new Thing(`known${i}`, { value: "x" });
}
console.log(`${texts} texts`);
new Thing("stuck", { value: new Promise(neverCalled) });

function neverCalled() {}
