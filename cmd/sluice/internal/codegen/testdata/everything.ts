import * as pulumi from "@pulumi/pulumi";
import * as cloud from "@pulumi/cloud";

// Secret values are not shown. The program reads them from its configuration; set each with
//   sluice config set --secret class2DocumentList0
//   sluice config set --secret class2DocumentList1
//   sluice config set --secret class2DocumentOpenDeep
//   sluice config set --secret class2DocumentOpenYes
//   sluice config set --secret class2Password
//   sluice config set --secret class2Pin
//   sluice config set --secret explicitToken
const config = new pulumi.Config();
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
    document: {
        list: [
            config.requireSecret("class2DocumentList0"),
            config.requireSecretNumber("class2DocumentList1"),
        ],
        open: {
            deep: config.requireSecret("class2DocumentOpenDeep"),
            yes: config.requireSecretBoolean("class2DocumentOpenYes"),
        },
    },
    limits: {
        a: [
            1,
            2.5,
        ],
    },
    password: config.requireSecret("class2Password"),
    pin: config.requireSecretNumber("class2Pin"),
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
const firstObject = new cloud.store.Object("first object", {
    bucket: class2.id,
    key: "o1",
});
const explicit = new cloud.Provider("explicit", {
    region: "r",
    token: config.requireSecret("explicitToken"),
});
const check = new cloud.network.Check("check", {
    name: "n",
    probe: {
        kind: "tcp",
        port: 80,
    },
    timeout: 5,
}, {
    provider: explicit,
});
const zone = new cloud.Zone("zone");
