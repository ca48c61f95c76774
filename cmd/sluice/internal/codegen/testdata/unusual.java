import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.cloud.Group;
import com.pulumi.cloud.GroupArgs;
import com.pulumi.cloud.Provider;
import com.pulumi.cloud.ProviderArgs;
import com.pulumi.cloud.Thing;
import com.pulumi.cloud.ThingArgs;
import com.pulumi.cloud.enums.Mood;
import com.pulumi.cloud.inputs.ConfigArgs;
import com.pulumi.cloud.inputs.InnerArgs;
import com.pulumi.core.Either;
import com.pulumi.core.Output;
import com.pulumi.resources.ComponentResourceOptions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
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
        var config = ctx.config();
        // config is required, but nothing is recorded for it.
        var first = new Thing("first", ThingArgs.builder()
            .class_(true)
            .config(ConfigArgs.builder()
                .inner(InnerArgs.builder()
                    .mood(Mood.Good)
                    .on(false)
                    .build())
                .other(InnerArgs.builder()
                    .mood(Mood.Good)
                    .on(false)
                    .build())
                .build())
            .default_("x")
            .opts("o")
            .build());
        // config.inner.mood is required, but nothing is recorded for it.
        // config.inner.on is required, but nothing is recorded for it.
        // config.other is required, but nothing is recorded for it.
        // foreign is not declared: its type belongs to another package.
        // huge is not declared: SDKs for Java do not have integers of this size.
        // mood is not declared: the enum in the schema does not have its value.
        // size is not declared: its value does not have the type in the schema.
        var second = new Thing("second", ThingArgs.builder()
            .anything(first.id().applyValue(v -> v))
            .choice(first.id().applyValue(v -> Either.ofRight(v)))
            .choices(first.id().applyValue(v -> List.of(
                Either.ofLeft(1),
                Either.ofRight(v),
                Either.ofRight("x"))))
            .config(ConfigArgs.builder()
                .inner(InnerArgs.builder()
                    .mood(Mood.Good)
                    .notify_(first.id())
                    .on(false)
                    .build())
                .other(InnerArgs.builder()
                    .mood(Mood.Good)
                    .on(false)
                    .build())
                .build())
            .level(2.0)
            .links(Output.tuple(
                Output.tuple(
                    config.requireSecret("secondLinksA"),
                    config.requireSecret("secondLinksB"),
                    config.requireSecret("secondLinksC"),
                    config.requireSecret("secondLinksD"),
                    config.requireSecret("secondLinksE"),
                    config.requireSecret("secondLinksF"),
                    config.requireSecret("secondLinksG"),
                    config.requireSecret("secondLinksH")),
                Output.tuple(
                    config.requireSecret("secondLinksI"),
                    config.requireSecret("secondLinksJ"))).applyValue(t -> Map.ofEntries(
                Map.entry("a", t.t1.t1),
                Map.entry("b", t.t1.t2),
                Map.entry("c", t.t1.t3),
                Map.entry("d", t.t1.t4),
                Map.entry("e", t.t1.t5),
                Map.entry("f", t.t1.t6),
                Map.entry("g", t.t1.t7),
                Map.entry("h", t.t1.t8),
                Map.entry("i", t.t2.t1),
                Map.entry("j", t.t2.t2))))
            .moods(List.of(
                Either.ofLeft("good"),
                Either.ofLeft("new")))
            .path(first.id().applyValue(v -> List.of(
                "a",
                v,
                "b")))
            .plainSecret(config.require("secondPlainSecret"))
            .plainText("first-id")
            .secretMood(config.requireSecret("secondSecretMood").applyValue(v -> Arrays.stream(Mood.values()).filter(m -> m.getValue().equals(v)).findFirst().orElseThrow()))
            .secretTags(Output.tuple(
                config.requireSecret("secondSecretTagsA"),
                first.id()).applyValue(t -> Map.ofEntries(
                Map.entry("a", t.t1),
                Map.entry("b", t.t2))))
            .build());
        var remote = new Group("remote", GroupArgs.Empty, ComponentResourceOptions.builder()
            .protect(true)
            .build());
        var explicit = new Provider("explicit", ProviderArgs.builder()
            .quiet(true)
            .region("5")
            .retries(3)
            .zones(List.of(
                "a",
                "b"))
            .build());
    }
}
