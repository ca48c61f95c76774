package program;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.core.Output;
import com.pulumi.deployment.Deployment;
import com.pulumi.resources.CustomResourceOptions;

/** What the tests run; the first argument is what it does. */
public final class App {
    public static void main(String[] args) {
        var what = args.length == 0 ? "" : args[0];
        switch (what) {
            case "exit":
                System.out.println("last words");
                System.exit(7);
            case "throw":
                throw new IllegalStateException("this program throws before it starts");
            case "fail":
                Pulumi.run(ctx -> {
                    System.err.println("a line before");
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("a line after")));
                    throw new IllegalStateException("this program fails", new IllegalArgumentException("for a reason"));
                });
                break;
            case "wait":
                System.out.println("begins");
                try {
                    Thread.sleep(600_000);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                break;
            default:
                Pulumi.run(ctx -> declare(ctx, args));
        }
    }

    private static void declare(Context ctx, String[] args) {
        System.out.println("hello from the program");
        System.err.println("[ERROR] and from its other stream");
        ctx.log().warn("mind the gap");
        var first = new Thing("first", Output.of(ctx.config().require("greeting")), CustomResourceOptions.Empty);
        var second = new Thing("second", first.value.applyValue(v -> v + "!"), CustomResourceOptions.builder().protect(true).build());
        new Thing("secret", ctx.config().requireSecret("password"), CustomResourceOptions.Empty);
        new Group("group");
        ctx.export("greeting", second.value);
        ctx.export("where", Output.of(ctx.organizationName() + "/" + ctx.projectName() + "/" + ctx.stackName() + "/"
            + Deployment.getInstance().isDryRun()));
        ctx.export("folder", Output.of(System.getProperty("user.dir")));
        ctx.export("arguments", Output.of(String.join("|", args)));
    }
}
