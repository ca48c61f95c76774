package myproject;

import com.pulumi.Context;
import com.pulumi.Pulumi;
import com.pulumi.core.Output;

public final class App {
    public static void main(String[] args) {
        Pulumi.run(App::declare);
    }

    private static void declare(Context ctx) {
        var greeting = ctx.config().get("greeting").orElse("Hello");

        // Resources are declared here, with the SDKs of their providers: com.pulumi:aws and others in pom.xml.

        ctx.export("message", Output.of(greeting + ", " + ctx.stackName() + "!"));
    }
}
