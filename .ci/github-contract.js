// Reduces GitHub's descriptions; .ci/github-contract says from what to what. Usage: github-contract.js CACHE OPERATIONS FIELDS OUT
const fs = require("fs"), path = require("path");
const [cache, operations, fields, out] = process.argv.slice(2);
const read = (...p) => JSON.parse(fs.readFileSync(path.join(cache, ...p), "utf8"));
const write = (name, value) => fs.writeFileSync(path.join(out, name), JSON.stringify(value, null, 1) + "\n");

// refs lists what a value refers to below the prefix, transitively, into found (name → definition).
function refs(value, prefix, lookup, found) {
  if (Array.isArray(value)) value.forEach((v) => refs(v, prefix, lookup, found));
  else if (value && typeof value === "object") {
    if (typeof value.$ref === "string" && value.$ref.startsWith(prefix)) {
      const name = value.$ref.slice(prefix.length);
      if (!(name in found)) { found[name] = lookup(name); refs(found[name], prefix, lookup, found); }
    }
    Object.values(value).forEach((v) => refs(v, prefix, lookup, found));
  }
}

// prose drops what validates nothing. The members of "properties" are names, not keywords.
function prose(value, names) {
  if (Array.isArray(value)) return value.map((v) => prose(v, false));
  if (!value || typeof value !== "object") return value;
  const kept = {};
  for (const [key, v] of Object.entries(value)) {
    if (!names && ["description", "summary", "example", "examples", "externalDocs", "x-github", "tags"].includes(key)) continue;
    kept[key] = prose(v, !names && ["properties", "patternProperties", "definitions", "schemas", "parameters", "responses", "headers"].includes(key) && !Array.isArray(v));
  }
  return kept;
}
// a response must have a description
const described = (o) => { for (const r of Object.values(o)) if (!r.$ref) r.description = ""; };

const api = read("openapi", "generated", "api.github.com.json");
const list = fs.readFileSync(operations, "utf8").trim().split("\n").map((l) => l.split(" "));
const paths = {}, examples = {};
for (const [method, p] of list) {
  const operation = api.paths[p]?.[method];
  if (!operation) throw new Error(`no operation ${method} ${p}`);
  (paths[p] ??= {})[method] = prose(operation, false);
  described(paths[p][method].responses);
  const success = Object.entries(operation.responses).find(([code]) => code[0] === "2")[1];
  const first = Object.values(success.content?.["application/json"]?.examples ?? {})[0];
  if (first) examples[`${method} ${p}`] = first.$ref ? api.components.examples[first.$ref.split("/").pop()].value : first.value;
}
const found = {}, components = {};
refs(paths, "#/components/", (n) => { const [kind, name] = n.split("/"); return prose(api.components[kind][name], false); }, found);
for (const name of Object.keys(found).sort()) {
  const [kind, key] = name.split("/");
  (components[kind] ??= {})[key] = found[name];
}
described(components.responses ?? {});
write("openapi.json", { openapi: api.openapi, info: { title: api.info.title, version: api.info.version, license: api.info.license }, servers: [{ url: "/" }], paths, components });

const schemas = read("webhooks-schemas", "schema.json");
const events = ["pull_request$opened", "pull_request$synchronize", "pull_request$closed", "pull_request$reopened", "pull_request$edited",
  "pull_request$ready_for_review", "pull_request_review$submitted", "pull_request_review$edited", "pull_request_review$dismissed",
  "workflow_run$completed", "merge_group$checks_requested", "push$event", "workflow_dispatch$event"];
const definitions = {};
refs(events.map((e) => ({ $ref: "#/definitions/" + e })), "#/definitions/", (n) => prose(schemas.definitions[n], false), definitions);
write("webhooks.json", { $schema: schemas.$schema, definitions: Object.fromEntries(Object.entries(definitions).sort()) });

const wanted = { pull_request: "opened", pull_request_review: "submitted", workflow_run: "completed", merge_group: "checks_requested", push: undefined, workflow_dispatch: undefined };
for (const event of read("webhooks-examples", "api.github.com", "index.json")) {
  if (event.name in wanted) examples["event " + event.name] = event.examples.find((e) => e.action === wanted[event.name]);
}
write("examples.json", examples);

// The GraphQL schema is text: a type's fields stand between its braces, two spaces in, an argument's list behind the name. A line of fields.txt is
// Type.field, or "Type Member" for a member of a union or a value of an enumeration.
const graphql = fs.readFileSync(path.join(cache, "graphql-schema", "schema.graphql"), "utf8");
const typed = fs.readFileSync(fields, "utf8").trim().split("\n").map((line) => {
  if (line.includes(" ")) {
    const [type, member] = line.split(" ");
    const union = graphql.match(new RegExp(`^union ${type}\\b([^]*?)\n\n`, "m")), values = graphql.match(new RegExp(`^enum ${type}\\b[^{]*\\{\n([^]*?)^\\}`, "m"));
    const is = union ? new RegExp(`[|=]\\s*${member}\\b`).test(union[1]) : values && new RegExp(`^  ${member}$`, "m").test(values[1]);
    if (!is) throw new Error(`no member or value ${line}, or it is deprecated`);
    return `${line}: ${union ? "member" : "value"}`;
  }
  const [type, field] = line.split(".");
  const body = graphql.match(new RegExp(`^(?:type|interface) ${type}\\b[^{]*\\{\\n([^]*?)^\\}`, "m"));
  const found = body && body[1].match(new RegExp(`^  ${field}(?:\\([^]*?^  \\))?: (\\S+)(.*)$`, "m"));
  if (!found || found[2].includes("@deprecated")) throw new Error(`no field ${line}, or it is deprecated`);
  return `${line}: ${found[1]}`;
});
fs.writeFileSync(path.join(out, "graphql.txt"), typed.join("\n") + "\n");
