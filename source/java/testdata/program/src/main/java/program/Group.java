package program;

import com.pulumi.core.Output;
import com.pulumi.resources.ComponentResource;
import com.pulumi.resources.ComponentResourceOptions;
import com.pulumi.resources.CustomResourceOptions;
import java.util.Map;

final class Group extends ComponentResource {
    final Thing child;

    Group(String name) {
        super("test:index:Group", name, ComponentResourceOptions.Empty);
        child = new Thing("child", Output.of("in a group"), CustomResourceOptions.builder().parent(this).build());
        registerOutputs(Map.of("value", child.value));
    }
}
