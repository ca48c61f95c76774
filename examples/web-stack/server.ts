import * as command from "@pulumi/command";
import * as local from "@pulumi/local";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as tls from "@pulumi/tls";

export interface Authority {
    key: tls.PrivateKey;
    certificate: tls.SelfSignedCert;
}

export interface ServerArgs {
    directory: string;
    port: number;
    authority: Authority;
    databasePassword: pulumi.Input<string>;
}

/** A server: an identity, a key with a certificate, its configuration in files, and a check of it. */
export class Server extends pulumi.ComponentResource {
    readonly address: pulumi.Output<string>;
    readonly identity: pulumi.Output<string>;

    constructor(name: string, args: ServerArgs, options?: pulumi.ComponentResourceOptions) {
        super("web:index:Server", name, {}, options);
        const child: pulumi.ResourceOptions = { parent: this };
        const folder = `${args.directory}/${name}`;

        this.identity = new random.RandomUuid(name, {}, child).result;
        const key = new tls.PrivateKey(name, { algorithm: "ED25519" }, child);
        const request = new tls.CertRequest(name, {
            privateKeyPem: key.privateKeyPem,
            subject: { commonName: `${name}.example` },
            dnsNames: [`${name}.example`],
        }, child);
        const certificate = new tls.LocallySignedCert(name, {
            certRequestPem: request.certRequestPem,
            caPrivateKeyPem: args.authority.key.privateKeyPem,
            caCertPem: args.authority.certificate.certPem,
            allowedUses: ["digital_signature", "server_auth"],
            validityPeriodHours: 720,
        }, child);

        const secretFile = (file: string, content: pulumi.Input<string>) => new local.SensitiveFile(`${name}-${file}`, {
            filename: `${folder}/${file}`, content, filePermission: "0600", directoryPermission: "0755",
        }, child);
        secretFile("key.pem", key.privateKeyPem);
        secretFile("database.password", args.databasePassword);
        const settings = new local.File(`${name}-server.conf`, {
            filename: `${folder}/server.conf`,
            content: pulumi.interpolate`id ${this.identity}\nlisten ${args.port}\n${certificate.certPem}`,
            filePermission: "0644",
            directoryPermission: "0755",
        }, child);
        new command.local.Command(name, {
            create: "grep -q '^listen ' \"$FILE\" && echo valid",
            environment: { FILE: settings.filename },
            triggers: [settings.contentSha1],
        }, child);

        this.address = pulumi.output(`${name}.example:${args.port}`);
        this.registerOutputs({ address: this.address, identity: this.identity });
    }
}
