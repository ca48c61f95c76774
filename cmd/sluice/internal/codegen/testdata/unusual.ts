import * as pulumi from "@pulumi/pulumi";
import * as cloud from "@pulumi/cloud";

// Secret values are not shown. The program reads them from its configuration; set each with
//   sluice config set --secret secondLinksA
//   sluice config set --secret secondLinksB
//   sluice config set --secret secondLinksC
//   sluice config set --secret secondLinksD
//   sluice config set --secret secondLinksE
//   sluice config set --secret secondLinksF
//   sluice config set --secret secondLinksG
//   sluice config set --secret secondLinksH
//   sluice config set --secret secondLinksI
//   sluice config set --secret secondLinksJ
//   sluice config set --secret secondPlainSecret
//   sluice config set --secret secondSecretMood
//   sluice config set --secret secondSecretTagsA
const config = new pulumi.Config();
// config is required, but nothing is recorded for it.
const first = new cloud.Thing("first", {
    class: true,
    config: {
        inner: {
            mood: "good",
            on: false,
        },
        other: {
            mood: "good",
            on: false,
        },
    },
    default: "x",
    opts: "o",
});
// config.inner.mood is required, but nothing is recorded for it.
// config.inner.on is required, but nothing is recorded for it.
// config.other is required, but nothing is recorded for it.
const second = new cloud.Thing("second", {
    anything: first.id,
    choice: first.id,
    choices: [
        1,
        first.id,
        "x",
    ],
    config: {
        inner: {
            mood: "good",
            notify: first.id,
            on: false,
        },
        other: {
            mood: "good",
            on: false,
        },
    },
    foreign: {
        a: 1,
    } as any,
    huge: 5000000000,
    level: 2,
    links: {
        a: config.requireSecret("secondLinksA"),
        b: config.requireSecret("secondLinksB"),
        c: config.requireSecret("secondLinksC"),
        d: config.requireSecret("secondLinksD"),
        e: config.requireSecret("secondLinksE"),
        f: config.requireSecret("secondLinksF"),
        g: config.requireSecret("secondLinksG"),
        h: config.requireSecret("secondLinksH"),
        i: config.requireSecret("secondLinksI"),
        j: config.requireSecret("secondLinksJ"),
    },
    mood: "sad",
    moods: [
        "good",
        "new",
    ],
    path: [
        "a",
        first.id,
        "b",
    ],
    plainSecret: config.require("secondPlainSecret"),
    plainText: "first-id",
    secretMood: config.requireSecret("secondSecretMood"),
    secretTags: {
        a: config.requireSecret("secondSecretTagsA"),
        b: first.id,
    },
    size: "wrong" as any,
});
const remote = new cloud.Group("remote", {}, {
    protect: true,
});
const explicit = new cloud.Provider("explicit", {
    quiet: true,
    region: "5",
    retries: 3,
    zones: [
        "a",
        "b",
    ],
});
