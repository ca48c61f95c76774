import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.asset.AssetArchive;
import com.pulumi.asset.FileArchive;
import com.pulumi.asset.FileAsset;
import com.pulumi.asset.RemoteAsset;
import com.pulumi.asset.StringAsset;
import com.pulumi.cloud.Provider;
import com.pulumi.cloud.ProviderArgs;
import com.pulumi.cloud.Zone;
import com.pulumi.cloud.net.Check;
import com.pulumi.cloud.net.CheckArgs;
import com.pulumi.cloud.net.inputs.TcpArgs;
import com.pulumi.cloud.store.Bucket;
import com.pulumi.cloud.store.BucketArgs;
import com.pulumi.cloud.store.ObjectArgs;
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
        // Secret values are not shown. The program reads them from its configuration; set each with
        //   sluice config set --secret class2DocumentList0
        //   sluice config set --secret class2DocumentList1
        //   sluice config set --secret class2DocumentOpenDeep
        //   sluice config set --secret class2DocumentOpenYes
        //   sluice config set --secret class2Password
        //   sluice config set --secret class2Pin
        //   sluice config set --secret explicitToken
        var config = ctx.config();
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
            .document(Output.tuple(
                config.requireSecret("class2DocumentList0"),
                config.requireSecretDouble("class2DocumentList1"),
                config.requireSecret("class2DocumentOpenDeep"),
                config.requireSecretBoolean("class2DocumentOpenYes")).applyValue(t -> Map.ofEntries(
                Map.entry("list", List.of(
                    t.t1,
                    t.t2)),
                Map.entry("open", Map.ofEntries(
                    Map.entry("deep", t.t3),
                    Map.entry("yes", t.t4))))))
            .limits(Map.ofEntries(
                Map.entry("a", List.of(
                    1.0,
                    2.5))))
            .password(config.requireSecret("class2Password"))
            .pin(config.requireSecretInteger("class2Pin"))
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
        var firstObject = new com.pulumi.cloud.store.Object("first object", ObjectArgs.builder()
            .bucket(class2.id())
            .key("o1")
            .build());
        var explicit = new Provider("explicit", ProviderArgs.builder()
            .region("r")
            .token(config.requireSecret("explicitToken"))
            .build());
        var check = new Check("check", CheckArgs.builder()
            .name("n")
            .probe(TcpArgs.builder()
                .kind("tcp")
                .port(80)
                .build())
            .timeout(5)
            .build(), CustomResourceOptions.builder()
            .provider(explicit)
            .build());
        var zone = new Zone("zone");
    }
}
