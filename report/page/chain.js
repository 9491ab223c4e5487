// The chain and its tree: RFC 6962 over the exact bytes of the entries, and what one entry must share with the ones before it.

const SCHEMAS = [EVAL, COOK, INCIDENT];

function concat(...parts) {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

const leafHash = (bytes) => sha256(concat([0], bytes));
const nodeHash = (left, right) => sha256(concat([1], left, right));
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

// Tree is the right edge of a Merkle tree: the roots of its complete subtrees, from left to right.
class Tree {
  constructor() {
    this.count = 0;
    this.edge = [];
  }

  async add(leaf) {
    this.edge.push(leaf);
    for (let n = this.count; n % 2 === 1; n = Math.floor(n / 2)) {
      const right = this.edge.pop();
      this.edge.push(await nodeHash(this.edge.pop(), right));
    }
    this.count++;
  }

  async root() { return hexOf(await fold(this.edge)); }
}

// fold joins the roots of an edge from the right.
async function fold(edge) {
  if (edge.length === 0) return sha256(new Uint8Array(0));
  let root = edge[edge.length - 1];
  for (let i = edge.length - 2; i >= 0; i--) root = await nodeHash(edge[i], root);
  return root;
}

// proofRoot is the root that an inclusion proof leads to (RFC 9162, 2.1.3.2), null if the proof has another length than it must.
async function proofRoot(leaf, seq, size, path) {
  let node = leaf;
  let index = seq;
  let last = size - 1;
  for (const step of path) {
    if (last === 0) return null;
    if (index % 2 === 1 || index === last) {
      node = await nodeHash(step, node);
      while (index % 2 === 0 && index !== 0) {
        index = Math.floor(index / 2);
        last = Math.floor(last / 2);
      }
    } else {
      node = await nodeHash(node, step);
    }
    index = Math.floor(index / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? hexOf(node) : null;
}

const bits = (n) => n.toString(2).replaceAll('0', '').length;

// examine gives what the bytes of one entry say by themselves: hash, leaf, the receipt and its subject if they have the shape of one, whether it could
// have been minted, and the first thing that is wrong with them. What is another kind of file is refused by its name.
async function examine(bytes, name, file = 'it') {
  const entry = { hash: await sha256Hex(bytes), leaf: await leafHash(bytes), receipt: null, subject: '', mintable: false, problem: null };
  const fail = (code, message) => {
    const what = code === 'LDG-105' ? '' : notReceipt(bytes);
    return Object.assign(entry, { problem: { code, message: what ? `${file} is ${what}` : message } });
  };
  if (bytes.length > MAX_BYTES) return fail('LDG-103', `${bytes.length} bytes, at most ${MAX_BYTES} are allowed`);
  const refused = canonicalError(bytes);
  const value = refused ? null : JSON.parse(new TextDecoder().decode(bytes));
  const misshapen = refused ? '' : shapeError(value, FACTS.shapes.receipt);
  if (!refused && !misshapen) Object.assign(entry, { receipt: value, subject: await subjectOf(value) });
  const said = misshapen || entry.receipt && await receiptError(entry.receipt);
  entry.mintable = entry.receipt !== null && !said;
  if (name && name !== entry.hash) return fail('LDG-105', `the SHA-256 of the bytes is ${entry.hash}, the name says ${name}`);
  if (refused) return fail('LDG-104', `not canonical at byte ${refused.offset}: ${refused.message} [${refused.rule}]`);
  if (typeof value.schema === 'string' && value.schema !== '' && !SCHEMAS.includes(value.schema)) {
    return fail('LDG-106', `the schema "${clip(value.schema)}" is unknown to this page`);
  }
  return said ? fail('LDG-107', said) : entry;
}

// readPart reads one of the ledger's own small files by its shape.
function readPart(bytes, shape, what) {
  const value = readCanonical(bytes);
  const said = shapeError(value, FACTS.shapes[shape]);
  if (said) throw new Error(`${what}: ${said}`);
  return value;
}

// readHead reads HEAD.json and holds it to itself: its edge must give its root.
async function readHead(bytes) {
  const head = readPart(bytes, 'head', 'HEAD.json');
  if (head.edge.length !== bits(head.count)) throw new Error('HEAD.json: the edge has another length than count gives');
  if (await headRoot(head) !== head.root) throw new Error('HEAD.json: the edge does not give the root');
  if ((head.count === 0) !== (head.tip === NO_PARENT)) throw new Error('HEAD.json: the tip is 64 zeros in an empty ledger and nowhere else');
  return head;
}

async function headRoot(head) { return hexOf(await fold(head.edge.map(fromHex))); }

// Chain follows entries in order and lists what does not fit.
class Chain {
  constructor() {
    this.tree = new Tree();
    this.tip = NO_PARENT;
    this.broken = false;
    this.problems = [];
    this.facts = new Map(); // by hash: what later entries may refer to
    this.keys = new Map();
    this.hashes = [];
    this.repositories = new Map();
    this.statements = []; // entries that say something about an earlier one
  }

  problem(code, seq, message) {
    this.problems.push({ code, seq, message });
    this.broken = true;
  }

  // link puts an entry at the end. A tree that is another one is listed once: every later log would only say it again.
  async link(seq, entry) {
    if (entry.problem) this.problem(entry.problem.code, seq, entry.problem.message);
    const r = entry.receipt;
    if (r) {
      if (r.seq !== seq) this.problem('LDG-108', seq, `the receipt says seq ${r.seq}`);
      else if (r.parent_hash !== this.tip) this.problem('LDG-203', seq, `parent_hash is ${r.parent_hash.slice(0, 8)}…, the entry before is ${this.tip.slice(0, 8)}…`);
      else if (!this.broken && r.log.root !== await this.tree.root()) this.problem('LDG-204', seq, 'log.root is not the root of the tree before it');
      this.refer(seq, r, entry.subject);
      this.know(seq, entry);
    }
    this.tip = entry.name ?? entry.hash; // so that one edit is one problem
    this.hashes.push(this.tip);
    await this.tree.add(entry.leaf);
  }

  refer(seq, r, subject) {
    const twice = this.keys.get(r.idempotency_key);
    if (twice !== undefined) this.problem('LDG-205', seq, `the sign-off has its receipt at seq ${twice} already`);
    this.keys.set(r.idempotency_key, seq);
    const said = this.earlierError(r, subject) || this.cookError(r);
    if (said) this.problem('LDG-207', seq, said);
    for (const hash of r.incident?.receipts ?? []) {
      if (!this.facts.has(hash)) this.problem('LDG-207', seq, `the incident names ${hash.slice(0, 8)}…, which is not an earlier entry of this ledger`);
    }
  }

  earlierError(r, subject) {
    if (!r.refers_to) return '';
    const earlier = this.facts.get(r.refers_to);
    if (!earlier) return `refers_to ${r.refers_to.slice(0, 8)}… is not an earlier entry of this ledger`;
    if (earlier.about !== about(r)) return `refers_to ${r.refers_to.slice(0, 8)}… is about another run, other bytes or another rulebook`;
    if (r.kind === 'carried' && !LIVE.includes(earlier.kind)) return 'only a signed-off entry can be carried';
    return subject && subject !== earlier.subject ? `the subject is another one than that of refers_to ${r.refers_to.slice(0, 8)}…` : '';
  }

  cookError(r) {
    if (!r.cook) return '';
    const sides = [[r.cook.before, r.cook.eval_before], [r.cook.after, r.cook.eval_after]].map(([hash, score]) => ({ p: this.facts.get(hash), score }));
    for (const { p, score } of sides) {
      if (!p) return 'the cook names a receipt that is not an earlier entry of this ledger';
      if (!LIVE.includes(p.kind) || p.score === '') return 'the cook names an entry that is not signed off';
      const [a, b] = sameScale(p.score, score);
      if (a !== b) return 'the cook claims another score than the receipt has';
    }
    return sides[0].p.sheet === sides[1].p.sheet ? '' : 'a lift is measured on one sheet and version';
  }

  know(seq, entry) {
    const r = entry.receipt;
    if (!this.repositories.has(r.repository.id)) this.repositories.set(r.repository.id, seq);
    if (r.refers_to) this.statements.push({ seq, hash: entry.hash, kind: r.kind, about: r.refers_to });
    for (const hash of r.incident?.receipts ?? []) this.statements.push({ seq, hash: entry.hash, kind: 'incident', about: hash });
    this.facts.set(entry.name ?? entry.hash, { seq, kind: r.kind, about: about(r), sheet: JSON.stringify(r.flight_sheet), score: r.verdict?.score ?? '', subject: entry.subject });
  }

  // ends holds HEAD.json and LEDGER.json, where they are known, to the entries.
  async ends(head, info) {
    if (head && (head.count !== this.tree.count || head.tip !== this.tip || head.root !== await this.tree.root())) {
      this.problem('LDG-302', -1, `HEAD.json says ${head.count} entries and the tip ${head.tip.slice(0, 8)}…; the entries make ${this.tree.count} and ${this.tip.slice(0, 8)}…`);
    }
    if (!info) return;
    if (this.hashes[0] !== info.genesis) this.problem('LDG-304', -1, 'LEDGER.json names another first entry');
    for (const [id, seq] of this.repositories) {
      if (id !== info.repository.id) this.problem('LDG-206', seq, `the entry is of the repository ${id}, the ledger of ${info.repository.id}`);
    }
  }
}

// about is what an entry is about: a life-cycle entry and the one that it refers to must share it.
function about(r) { return JSON.stringify([r.run, r.submission.sha256, r.flight_sheet]); }
