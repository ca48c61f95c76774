import * as local from "@pulumi/local";
import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";
import * as tls from "@pulumi/tls";

import { Server } from "./server";

const config = new pulumi.Config();
const directory = config.require("directory");

const site = new random.RandomPet("site");
const database = {
    user: new random.RandomString("database-user", { length: 8, special: false, numeric: false, upper: false }),
    password: new random.RandomPassword("database-password", { length: 24, special: false }),
};

// The authority that signs the certificates of the servers.
const key = new tls.PrivateKey("authority", { algorithm: "ED25519" });
const authority = {
    key,
    certificate: new tls.SelfSignedCert("authority", {
        privateKeyPem: key.privateKeyPem,
        isCaCertificate: true,
        subject: { commonName: site.id, organization: "Example" },
        allowedUses: ["cert_signing", "crl_signing"],
        validityPeriodHours: 8760,
    }),
};

const servers = [...Array(config.requireNumber("servers")).keys()].map((n) => new Server(`server-${n}`, {
    directory, port: 8440 + n, authority, databasePassword: database.password.result,
}));

// The balancer gets the servers in an order of its own, which stays as long as the servers do.
const order = new random.RandomShuffle("order", { inputs: servers.map((server) => server.address) });
new local.File("balancer.conf", {
    filename: `${directory}/balancer.conf`,
    content: order.results.apply((addresses) => addresses.map((address) => `upstream ${address}\n`).join("")),
    filePermission: "0644",
    directoryPermission: "0755",
});
new local.File("authority.pem", {
    filename: `${directory}/authority.pem`, content: authority.certificate.certPem, filePermission: "0644", directoryPermission: "0755",
});

export const name = site.id;
export const addresses = servers.map((server) => server.address);
export const connection = pulumi.interpolate`postgres://${database.user.result}:${database.password.result}@database.example`;
