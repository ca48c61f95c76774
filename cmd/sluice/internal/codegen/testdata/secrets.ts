import * as pulumi from "@pulumi/pulumi";
import * as cloud from "@pulumi/cloud";

const group = new pulumi.ComponentResource("my:local:Group", "group", {});
// rules.0.unheard is recorded, but the schema does not have it.
// versioned is required, but nothing is recorded for it.
// forgotten is recorded, but the schema does not have it.
const class2 = new cloud.store.Bucket("my-logs", {
    bucket: "logs ${not.a.reference} \"quoted\" \\ `\n\u2028 ünïcode",
    content: new pulumi.asset.AssetArchive({
        "a.txt": new pulumi.asset.StringAsset("text"),
        dir: new pulumi.asset.FileArchive("./dir"),
        web: new pulumi.asset.RemoteAsset("https://example.com/x"),
    }),
    document: pulumi.secret({
        list: [
            "s3cr3t",
            7,
        ],
        open: {
            deep: "s3cr3t",
            yes: true,
        },
    }),
    limits: {
        a: [
            1,
            2.5,
        ],
    },
    password: pulumi.secret("s3cr3t"),
    pin: 1234,
    rules: [
        {
            days: 3,
            prefix: "a/",
        },
        {
            days: 4,
            next: {
                days: 5,
            },
            weight: 0.5,
        },
    ],
    source: new pulumi.asset.FileAsset("./file.txt"),
    tags: {
        ["__proto__"]: "z",
        "needs quotes": "y",
        plain: "x",
    },
    tier: "hot",
    versioned: false,
}, {
    parent: group,
    protect: true,
});
