import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.asset.AssetArchive;
import com.pulumi.asset.FileArchive;
import com.pulumi.asset.RemoteAsset;
import com.pulumi.asset.StringAsset;
import com.pulumi.cloud.Zone;
import com.pulumi.cloud.net.Check;
import com.pulumi.cloud.net.CheckArgs;
import com.pulumi.cloud.store.Bucket;
import com.pulumi.cloud.store.BucketArgs;
import com.pulumi.cloud.store.ObjectArgs;
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
        var config = ctx.config();
        var group = new ComponentResource("my:local:Group", "group");
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
            .forgotten(1)
            .limits(Map.ofEntries(
                Map.entry("a", List.of(
                    1,
                    2.5))))
            .password(config.requireSecret("class2Password"))
            .pin(1234)
            .rules(List.of(
                Map.ofEntries(
                    Map.entry("days", 3),
                    Map.entry("prefix", "a/"),
                    Map.entry("unheard", true)),
                Map.ofEntries(
                    Map.entry("days", 4),
                    Map.entry("next", Map.ofEntries(
                        Map.entry("days", 5))),
                    Map.entry("weight", 0.5))))
            .source("./file.txt")
            .tags(Map.ofEntries(
                Map.entry("__proto__", "z"),
                Map.entry("needs quotes", "y"),
                Map.entry("plain", "x")))
            .tier("hot")
            .build(), CustomResourceOptions.builder()
            .parent(group)
            .protect(true)
            .build());
        var firstObject = new com.pulumi.cloud.store.Object("first object", ObjectArgs.builder()
            .bucket(class2.id())
            .key("o1")
            .build());
        var check = new Check("check", CheckArgs.builder()
            .name("n")
            .probe(Map.ofEntries(
                Map.entry("kind", "tcp"),
                Map.entry("port", 80)))
            .timeout(5)
            .build(), CustomResourceOptions.builder()
            .provider(explicit)
            .build());
        var zone = new Zone("zone");
    }
}
