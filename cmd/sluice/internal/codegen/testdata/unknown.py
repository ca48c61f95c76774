import pulumi
import pulumi_cloud as cloud

# Secret values are not shown. The program reads them from its configuration; set each with
#   sluice config set --secret class2DocumentList0
#   sluice config set --secret class2DocumentList1
#   sluice config set --secret class2DocumentOpenDeep
#   sluice config set --secret class2DocumentOpenYes
#   sluice config set --secret class2Password
config = pulumi.Config()
group = pulumi.ComponentResource("my:local:Group", "group")
class2 = cloud.store.Bucket("my-logs",
    bucket="logs ${not.a.reference} \"quoted\" \\ `\n\u2028 ünïcode",
    content=pulumi.AssetArchive({
        "a.txt": pulumi.StringAsset("text"),
        "dir": pulumi.FileArchive("./dir"),
        "web": pulumi.RemoteAsset("https://example.com/x"),
    }),
    document={
        "list": [
            config.require_secret("class2DocumentList0"),
            config.require_secret_float("class2DocumentList1"),
        ],
        "open": {
            "deep": config.require_secret("class2DocumentOpenDeep"),
            "yes": config.require_secret_bool("class2DocumentOpenYes"),
        },
    },
    forgotten=1,
    limits={
        "a": [
            1,
            2.5,
        ],
    },
    password=config.require_secret("class2Password"),
    pin=1234,
    rules=[
        {
            "days": 3,
            "prefix": "a/",
            "unheard": True,
        },
        {
            "days": 4,
            "next": {
                "days": 5,
            },
            "weight": 0.5,
        },
    ],
    source="./file.txt",
    tags={
        "__proto__": "z",
        "needs quotes": "y",
        "plain": "x",
    },
    tier="hot",
    opts=pulumi.ResourceOptions(parent=group, protect=True))
first_object = cloud.store.Object("first object",
    bucket=class2.id,
    key="o1")
check = cloud.net.Check("check",
    name="n",
    probe={
        "kind": "tcp",
        "port": 80,
    },
    timeout=5,
    opts=pulumi.ResourceOptions(provider=explicit))
zone = cloud.Zone("zone")
