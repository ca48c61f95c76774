import * as local from "@pulumi/local";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as tls from "@pulumi/tls";

const config = new pulumi.Config();
const title = config.require("title");

// Made once, and kept in the state.
const domain = new random.RandomPet("domain");
const password = new random.RandomPassword("password", { length: 20 }, { protect: config.getBoolean("protectPassword") });

const key = new tls.PrivateKey("key", { algorithm: "ED25519" });
const host = pulumi.interpolate`${domain.id}.example`;
const certificate = new tls.SelfSignedCert("certificate", {
    privateKeyPem: key.privateKeyPem,
    subject: { commonName: host },
    dnsNames: [host],
    allowedUses: ["digital_signature", "server_auth"],
    validityPeriodHours: 8760,
});
new local.File("certificate-file", { filename: "site/tls/certificate.pem", content: certificate.certPem, filePermission: "0644" });
new local.SensitiveFile("key-file", { filename: "site/tls/key.pem", content: key.privateKeyPem, filePermission: "0600" });

const pages = [...Array(config.requireNumber("pages")).keys()].map((n) => new local.File(`page-${n}`, {
    filename: `site/page-${n}.html`,
    content: pulumi.interpolate`<title>${title}</title>\n<h1>Page ${n} of ${host}</h1>\n`,
    filePermission: "0644",
}));

export const url = pulumi.interpolate`https://${host}`;
export const files = pages.map((page) => page.filename);
export const ownersPassword = password.result;
