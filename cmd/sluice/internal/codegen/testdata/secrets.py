import pulumi
import pulumi_cloud as cloud

group = pulumi.ComponentResource("my:local:Group", "group")
# rules.0.unheard is recorded, but the schema does not have it.
# versioned is required, but nothing is recorded for it.
# forgotten is recorded, but the schema does not have it.
class2 = cloud.store.Bucket("my-logs",
    bucket="logs ${not.a.reference} \"quoted\" \\ `\n\u2028 ünïcode",
    content=pulumi.AssetArchive({
        "a.txt": pulumi.StringAsset("text"),
        "dir": pulumi.FileArchive("./dir"),
        "web": pulumi.RemoteAsset("https://example.com/x"),
    }),
    document=pulumi.Output.secret({
        "list": [
            "s3cr3t",
            7,
        ],
        "open": {
            "deep": "s3cr3t",
            "yes": True,
        },
    }),
    limits={
        "a": [
            1,
            2.5,
        ],
    },
    password=pulumi.Output.secret("s3cr3t"),
    pin=1234,
    rules=[
        cloud.store.RuleArgs(
            days=3,
            prefix="a/",
        ),
        cloud.store.RuleArgs(
            days=4,
            next=cloud.store.RuleArgs(
                days=5,
            ),
            weight=0.5,
        ),
    ],
    source=pulumi.FileAsset("./file.txt"),
    tags={
        "__proto__": "z",
        "needs quotes": "y",
        "plain": "x",
    },
    tier=cloud.store.Tier("hot"),
    versioned=False,
    opts=pulumi.ResourceOptions(parent=group, protect=True))
