package program;

import com.pulumi.core.Output;
import com.pulumi.core.annotations.Export;
import com.pulumi.core.annotations.Import;
import com.pulumi.resources.CustomResource;
import com.pulumi.resources.CustomResourceOptions;
import com.pulumi.resources.ResourceArgs;

final class Thing extends CustomResource {
    @Export(name = "value", refs = {String.class}, tree = "[0]")
    Output<String> value;

    Thing(String name, Output<String> value, CustomResourceOptions options) {
        super("test:index:Thing", name, new Args(value), options);
    }

    static final class Args extends ResourceArgs {
        @Import(name = "value", required = true)
        final Output<String> value;

        Args(Output<String> value) {
            this.value = value;
        }
    }
}
