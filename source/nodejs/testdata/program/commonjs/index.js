const pulumi = require("@pulumi/pulumi");

module.exports = { argv: process.argv.slice(2), folder: process.cwd(), limit: process.execArgv.join(" "), org: pulumi.getOrganization() };
