import { PolicyPack } from "@pulumi/policy";

new PolicyPack("${PROJECT}", {
    policies: [{
        name: "short-names",
        description: "The name of a resource has at most 40 characters.",
        enforcementLevel: "advisory",
        validateResource: (args, reportViolation) => {
            if (args.name.length > 40) {
                reportViolation(`the name has ${args.name.length} characters`);
            }
        },
    }],
});
