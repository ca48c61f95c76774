from pulumi_policy import EnforcementLevel, PolicyPack, ReportViolation, ResourceValidationArgs, ResourceValidationPolicy


def short_names(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
    if len(args.name) > 40:
        report_violation(f"the name has {len(args.name)} characters")


PolicyPack(
    name="${PROJECT}",
    policies=[
        ResourceValidationPolicy(
            name="short-names",
            description="The name of a resource has at most 40 characters.",
            enforcement_level=EnforcementLevel.ADVISORY,
            validate=short_names,
        ),
    ],
)
