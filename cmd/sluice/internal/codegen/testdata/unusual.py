import typing

import pulumi
import pulumi_cloud as cloud

# Secret values are not shown. The program reads them from its configuration; set each with
#   sluice config set --secret secondLinksA
#   sluice config set --secret secondLinksB
#   sluice config set --secret secondLinksC
#   sluice config set --secret secondLinksD
#   sluice config set --secret secondLinksE
#   sluice config set --secret secondLinksF
#   sluice config set --secret secondLinksG
#   sluice config set --secret secondLinksH
#   sluice config set --secret secondLinksI
#   sluice config set --secret secondLinksJ
#   sluice config set --secret secondPlainSecret
#   sluice config set --secret secondSecretMood
#   sluice config set --secret secondSecretTagsA
config = pulumi.Config()
# config is required, but nothing is recorded for it.
first = cloud.Thing("first",
    class_=True,
    config=cloud.ConfigArgs(
        inner=cloud.InnerArgs(
            mood=cloud.Mood("good"),
            on=False,
        ),
        other=cloud.InnerArgs(
            mood=cloud.Mood("good"),
            on=False,
        ),
    ),
    default="x",
    opts_="o")
# config.inner.mood is required, but nothing is recorded for it.
# config.inner.on is required, but nothing is recorded for it.
# config.other is required, but nothing is recorded for it.
second = cloud.Thing("second",
    anything=first.id,
    choice=first.id,
    choices=[
        1,
        first.id,
        "x",
    ],
    config=cloud.ConfigArgs(
        inner=cloud.InnerArgs(
            mood=cloud.Mood("good"),
            notify=first.id,
            on=False,
        ),
        other=cloud.InnerArgs(
            mood=cloud.Mood("good"),
            on=False,
        ),
    ),
    foreign=typing.cast(typing.Any, {
        "a": 1,
    }),
    huge=5000000000,
    level=2,
    links={
        "a": config.require_secret("secondLinksA"),
        "b": config.require_secret("secondLinksB"),
        "c": config.require_secret("secondLinksC"),
        "d": config.require_secret("secondLinksD"),
        "e": config.require_secret("secondLinksE"),
        "f": config.require_secret("secondLinksF"),
        "g": config.require_secret("secondLinksG"),
        "h": config.require_secret("secondLinksH"),
        "i": config.require_secret("secondLinksI"),
        "j": config.require_secret("secondLinksJ"),
    },
    mood=typing.cast(typing.Any, "sad"),
    moods=[
        "good",
        "new",
    ],
    path=[
        "a",
        first.id,
        "b",
    ],
    plain_secret=config.require("secondPlainSecret"),
    plain_text="first-id",
    secret_mood=config.require_secret("secondSecretMood").apply(cloud.Mood),
    secret_tags={
        "a": config.require_secret("secondSecretTagsA"),
        "b": first.id,
    },
    size=typing.cast(typing.Any, "wrong"))
remote = cloud.Group("remote",
    opts=pulumi.ResourceOptions(protect=True))
explicit = cloud.Provider("explicit",
    quiet=True,
    region="5",
    retries=3,
    zones=[
        "a",
        "b",
    ])
