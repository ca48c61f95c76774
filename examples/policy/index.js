const { PolicyPack } = require("@pulumi/policy");

new PolicyPack("house-rules", {
    enforcementLevel: "mandatory",
    policies: [{
        name: "long-passwords",
        description: "Passwords have at least as many characters as the configuration says.",
        configSchema: { properties: { least: { type: "integer", default: 16 } } },
        validateResource: (args, report) => {
            const { least } = args.getConfig();
            if (args.type === "random:index/randomPassword:RandomPassword" && args.props.length < least) {
                report(`the password ${args.name} has ${args.props.length} characters, at least ${least} are wanted`);
            }
        },
    }, {
        name: "careful-files",
        description: "Files are not to be written by everybody: the mode is corrected.",
        enforcementLevel: "remediate",
        remediateResource: (args) => {
            const mode = parseInt(args.props.filePermission ?? "0777", 8);
            if (args.type === "local:index/file:File" && mode & 0o022) {
                return { ...args.props, filePermission: "0" + (mode & ~0o022).toString(8) };
            }
        },
    }, {
        name: "few-keys",
        description: "A stack should have few private keys.",
        enforcementLevel: "advisory",
        validateStack: (args, report) => {
            const keys = args.resources.filter((resource) => resource.type === "tls:index/privateKey:PrivateKey");
            if (keys.length > 4) {
                report(`there are ${keys.length} private keys`);
            }
        },
    }],
});
