import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.asset.AssetArchive;
import com.pulumi.asset.FileArchive;
import com.pulumi.asset.FileAsset;
import com.pulumi.asset.RemoteAsset;
import com.pulumi.asset.StringAsset;
import com.pulumi.cloud.store.Bucket;
import com.pulumi.cloud.store.BucketArgs;
import com.pulumi.cloud.store.enums.Tier;
import com.pulumi.cloud.store.inputs.RuleArgs;
import com.pulumi.core.Output;
import com.pulumi.resources.ComponentResource;
import com.pulumi.resources.CustomResourceOptions;
import java.util.List;
import java.util.Map;

public class App {
    public static void main(String[] args) {
        Pulumi.run(App::stack);
    }

    public static void stack(Context ctx) {
        var group = new ComponentResource("my:local:Group", "group");
        // rules.0.unheard is recorded, but the schema does not have it.
        // versioned is required, but nothing is recorded for it.
        // forgotten is recorded, but the schema does not have it.
        var class2 = new Bucket("my-logs", BucketArgs.builder()
            .bucket("logs ${not.a.reference} \"quoted\" \\ `\n\u2028 \u00fcn\u00efcode")
            .content(new AssetArchive(Map.ofEntries(
                Map.entry("a.txt", new StringAsset("text")),
                Map.entry("dir", new FileArchive("./dir")),
                Map.entry("web", new RemoteAsset("https://example.com/x")))))
            .document(Output.ofSecret(Map.ofEntries(
                Map.entry("list", List.of(
                    "s3cr3t",
                    7)),
                Map.entry("open", Map.ofEntries(
                    Map.entry("deep", "s3cr3t"),
                    Map.entry("yes", true))))))
            .limits(Map.ofEntries(
                Map.entry("a", List.of(
                    1.0,
                    2.5))))
            .password(Output.ofSecret("s3cr3t"))
            .pin(1234)
            .rules(List.of(
                RuleArgs.builder()
                    .days(3)
                    .prefix("a/")
                    .build(),
                RuleArgs.builder()
                    .days(4)
                    .next(RuleArgs.builder()
                        .days(5)
                        .build())
                    .weight(0.5)
                    .build()))
            .source(new FileAsset("./file.txt"))
            .tags(Map.ofEntries(
                Map.entry("__proto__", "z"),
                Map.entry("needs quotes", "y"),
                Map.entry("plain", "x")))
            .tier(Tier.Hot)
            .versioned(false)
            .build(), CustomResourceOptions.builder()
            .parent(group)
            .protect(true)
            .build());
    }
}
