// The page: receipts come as files, or from the branch that the page is published on.

const $ = (id) => document.getElementById(id);
const HASH = /^[0-9a-f]{64}$/;
const SERVED = /^https?:$/.test(location.protocol);
const SHARED = /\/r\/([0-9a-f]{64})$/.exec(location.pathname); // a share server's page for one receipt
const BASE = SHARED ? '../' : './';
const WALK_AT_ONCE = 300; // longer chains are walked when asked for
const MAX_FILE = 5 * 1024 * 1024;

let job = 0; // the newest; an older one that notices ends

class Stopped extends Error {}

// ---- what the page says

function state(name) { document.body.dataset.state = name; }

function begin() {
  state('busy');
  for (const id of ['outcome', 'receipt', 'entries']) {
    $(id).hidden = true;
    replace($(id));
  }
  $('status').textContent = '';
  return ++job;
}

function progress(mine, done, total, what) {
  if (mine !== job) throw new Stopped();
  if (done % 10 !== 0) return;
  $('progress').hidden = false;
  $('bar').max = total;
  $('bar').value = done;
  $('count').textContent = `${what} ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`;
}

function conclude(outcome) {
  $('progress').hidden = true;
  $('outcome').hidden = false;
  $('outcome').className = !outcome.good ? 'card bad' : outcome.alone ? 'card alone' : 'card good';
  replace($('outcome'), outcomeView(outcome));
  state(outcome.good ? 'good' : 'bad');
  $('status').textContent = `${outcome.title} ${outcome.says}`;
}

// showReceipt shows a receipt that nothing speaks against, and no other: bytes that fail must not look like an approval, nor name anybody.
function showReceipt(entry, statements, unchecked = '') {
  const sound = document.body.dataset.state === 'good' && entry?.mintable && !entry.problem;
  $('receipt').hidden = !sound;
  replace($('receipt'), sound ? receiptView(entry, statements, unchecked) : null);
}

// attempt runs a job; what it throws is shown, and is never a good result.
async function attempt(work) {
  const mine = begin();
  try {
    await work(mine);
  } catch (e) {
    if (e instanceof Stopped || mine !== job) return;
    conclude({ good: false, title: 'It could not be verified.', says: e.message, checks: [], problems: [] });
  }
}

// ---- from files

async function openFiles(files) {
  await attempt(async (mine) => {
    const found = await sortFiles(mine, files);
    if (found.entries.length === 0 && found.problems.length === 0) throw new Error(`No receipt is among these files.${found.others.map((what) => ` ${what}.`).join('')}`);
    await judge(mine, found);
  });
}

// sortFiles reads what was given: entries, HEAD.json, LEDGER.json, proofs. Given a whole ledger it also looks at what else lies there.
async function sortFiles(mine, files) {
  const list = [...files].filter((f) => !/(^|\/)\.git(\/|$)/.test(pathOf(f)));
  const anchor = list.map(pathOf).filter((p) => /(^|\/)HEAD\.json$/.test(p)).sort((a, b) => a.length - b.length)[0];
  const root = anchor !== undefined && list.some((f) => pathOf(f).includes('/')) ? anchor.slice(0, -'HEAD.json'.length) : null;
  const found = { entries: [], problems: [], head: null, info: null, proofs: [], aliases: new Set(), sheets: [], others: [], whole: root !== null };
  for (const [i, file] of list.entries()) {
    progress(mine, i, list.length, 'Reading file');
    const path = root === null ? baseName(pathOf(file)) : pathOf(file).startsWith(root) ? pathOf(file).slice(root.length) : '';
    await sortFile(found, file, path);
  }
  return found;
}

const pathOf = (f) => f.relativePath || f.webkitRelativePath || f.name;
const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);

async function sortFile(found, file, path) {
  const problem = (code, message) => found.problems.push({ code, seq: -1, message: `${path}: ${message}` });
  if (file.size > MAX_FILE) return problem('LDG-103', `${file.size} bytes; the file was not read`);
  const place = parsePath(path);
  if (found.whole && !place) return path === '' ? undefined : problem('LDG-101', `no path of a ledger${FIRST_LAYOUT.test(path) ? ' (it is of the layout before the first release)' : ''}`);
  if (['README.md', 'verify.html'].includes(path)) return undefined;
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (['HEAD.json', 'LEDGER.json'].includes(path)) found.others.push(`${path} is ${notReceipt(bytes)}`);
  if (path === '.gitattributes') {
    if (new TextDecoder().decode(bytes) !== '* -text\n') problem('LDG-114', 'it must say "* -text"');
  } else if (path === 'HEAD.json') {
    try { found.head = await readHead(bytes); } catch (e) { problem('LDG-301', e.message); }
  } else if (path === 'LEDGER.json') {
    try { found.info = readPart(bytes, 'info', 'LEDGER.json'); } catch (e) { problem('LDG-303', e.message); }
  } else if (place?.sheet) {
    if (await sha256Hex(bytes) !== place.hash) problem('LDG-115', 'the name is not the hash of the bytes');
    found.sheets.push(place.hash);
  } else if (place?.alias) {
    if (await sha256Hex(bytes) !== place.hash) problem('LDG-110', 'the name is not the hash of the bytes');
    found.aliases.add(path);
  } else if (!await sortProof(found, bytes)) {
    const entry = await examine(bytes, place?.hash, path);
    found.entries.push(Object.assign(slim(entry), { seq: place?.seq ?? entry.receipt?.seq ?? -1, name: place?.hash ?? entry.hash, file }));
  }
  return undefined;
}

// sortProof takes what is an inclusion proof.
async function sortProof(found, bytes) {
  if (canonicalError(bytes)) return false;
  const value = JSON.parse(new TextDecoder().decode(bytes));
  if (value.format !== 'defendablecloud.ledger-inclusion/v1') return false;
  found.proofs.push(readPart(bytes, 'proof', 'the proof'));
  return true;
}

// FIRST_LAYOUT is what no ledger of this format has.
const FIRST_LAYOUT = /^pr\/\d{3}\/|^receipts\/\d{3}\/\d{3}\/|^sheets\/[0-9a-f]{64}\.json$/;

// parsePath knows the paths of a ledger; null is none. Outside of a ledger's folders a file may have its bare name.
function parsePath(path) {
  if (['HEAD.json', 'LEDGER.json', 'README.md', 'verify.html', '.gitattributes'].includes(path)) return {};
  let m = /^(?:receipts\/(\d{3})\/(\d\d)\/(\d\d)\/)?(\d{9})-([0-9a-f]{64})\.json$/.exec(path);
  if (m) return m[1] === undefined || m[1] + m[2] + m[3] === m[4].slice(0, 7) ? { seq: Number(m[4]), hash: m[5] } : null;
  m = /^(?:hash\/([0-9a-f]{2})\/([0-9a-f]{2})\/)?([0-9a-f]{64})\.json$/.exec(path);
  if (m) return m[1] === undefined ? { hash: m[3] } : m[1] + m[2] === m[3].slice(0, 4) ? { hash: m[3], alias: true } : null;
  m = /^pr\/\d{4}\/\d\d\/\d\d\/\d{9}-([0-9a-f]{64})\.json$/.exec(path);
  if (m) return { hash: m[1], alias: true };
  m = /^sheets\/([0-9a-f]{2})\/([0-9a-f]{64})\.json$/.exec(path);
  return m && m[2].startsWith(m[1]) ? { hash: m[2], sheet: true } : null;
}

// paths are the three of an entry.
function pathsOf(seq, hash, pull) {
  const n = String(seq).padStart(9, '0');
  const p = String(pull ?? 0).padStart(8, '0');
  return [`receipts/${n.slice(0, 3)}/${n.slice(3, 5)}/${n.slice(5, 7)}/${n}-${hash}.json`, `hash/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}.json`,
    ...(pull ? [`pr/${p.slice(0, 4)}/${p.slice(4, 6)}/${p.slice(6)}/${n}-${hash}.json`] : [])];
}

// ---- judging

async function judge(mine, found) {
  const entries = arrange(found);
  const chain = new Chain();
  const from = found.whole ? 0 : entries[0]?.seq ?? 0;
  if (from > 0) chain.tip = entries[0].receipt?.parent_hash ?? NO_PARENT;
  chain.broken = from > 0;
  let next = from;
  for (const [i, entry] of entries.entries()) {
    if (i % 25 === 0) progress(mine, i, entries.length, 'Checking entry');
    if (entry.seq > next) gap(chain, entry, next);
    await chain.link(entry.seq, entry);
    next = entry.seq + 1;
  }
  if (found.whole || from === 0 && (found.head || entries.length > 1)) await chain.ends(found.head, found.info);
  const problems = [...found.problems, ...found.twins, ...chain.problems, ...(found.whole ? closedWorld(found, entries) : [])];
  for (const p of found.proofs) problems.push(...await proofProblems(p, entries, found.head));
  const alone = entries.length === 1 && (from > 0 || !found.head);
  await finish(mine, { entries, chain, problems, head: found.head, proofs: found.proofs, partial: from > 0, alone, whole: found.whole });
}

function gap(chain, entry, next) {
  chain.problem('LDG-201', entry.seq, `${entry.seq - next === 1 ? 'one entry is' : `${entry.seq - next} entries are`} missing before it, from seq ${next}`);
  chain.tip = entry.receipt?.parent_hash ?? chain.tip;
}

// arrange puts entries in order; the same bytes given twice are one entry, other bytes at one place are two.
function arrange(found) {
  const seen = new Set();
  const entries = found.entries.filter((e) => !seen.has(e.name + e.hash) && seen.add(e.name + e.hash)).sort((a, b) => a.seq - b.seq);
  found.twins = entries.filter((e, i) => i > 0 && e.seq === entries[i - 1].seq).map((e) => ({ code: 'LDG-202', seq: e.seq, message: 'another entry has this seq' }));
  return entries.filter((e, i) => i === 0 || e.seq !== entries[i - 1].seq);
}

function closedWorld(found, entries) {
  const problems = [];
  const wanted = new Set();
  for (const e of entries) {
    const paths = pathsOf(e.seq, e.name, e.receipt?.pull_request?.number).slice(1);
    for (const path of paths) {
      wanted.add(path);
      if (!found.aliases.has(path)) problems.push({ code: 'LDG-109', seq: e.seq, message: `${path} is missing` });
    }
  }
  for (const path of found.aliases) {
    if (!wanted.has(path)) problems.push({ code: 'LDG-111', seq: -1, message: `${path}: no entry belongs here` });
  }
  const used = new Set(entries.map((e) => e.receipt?.flight_sheet.sha256));
  for (const hash of found.sheets) {
    if (!used.has(hash)) problems.push({ code: 'LDG-116', seq: -1, message: `sheets/${hash.slice(0, 2)}/${hash}.json: no receipt names this rulebook` });
  }
  if (!found.head) problems.push({ code: 'LDG-301', seq: -1, message: 'HEAD.json is missing or cannot be read' });
  if (!found.info && entries.length) problems.push({ code: 'LDG-303', seq: -1, message: 'LEDGER.json is missing or cannot be read' });
  return problems;
}

// proofProblems holds an inclusion proof to the entry that was given with it, and to the head where its size is the head's.
async function proofProblems(proof, entries, head) {
  const fail = (message) => [{ code: 'LDG-204', seq: proof.seq, message: `the inclusion proof does not hold: ${message}` }];
  const entry = entries.find((e) => e.seq === proof.seq);
  if (!entry) return fail('the entry that it is about was not given');
  if (proof.leaf !== hexOf(entry.leaf)) return fail('its leaf is not the entry');
  if (proof.seq >= proof.size) return fail('the entry is outside of its tree');
  if (await proofRoot(entry.leaf, proof.seq, proof.size, proof.path.map(fromHex)) !== proof.root) return fail('it leads to another root');
  if (head && head.count === proof.size && head.root !== proof.root) return fail('HEAD.json has another root');
  return [];
}

// finish says what came out, and shows a receipt or a list of them.
async function finish(mine, result) {
  const { entries, chain, problems, alone, partial, head, opened, proofs = [] } = result;
  const good = problems.length === 0;
  const n = entries.length;
  const unproven = alone || partial || !head; // no ledger was followed from its end to its first entry
  const shownEntry = opened ?? (n === 1 ? await reopen(entries[0]) : null);
  if (mine !== job) throw new Stopped();
  const title = !good ? `${problems.length === 1 ? 'One thing is' : `${problems.length} things are`} wrong.`
    : alone ? 'This receipt agrees with itself.' : n === 1 ? 'One receipt and its chain agree.' : `${n.toLocaleString('en')} receipts agree with each other.`;
  const says = !good ? 'Nothing of it is shown, and nobody may rely on it.' : proofs.length ? `The proof shows that it stands in a tree of ${proofs[0].size.toLocaleString('en')} entries with the root ${proofs[0].root}. Compare that root with one that you trust.`
    : alone ? 'Its bytes, its hash and its form are right. Whether it stands in a ledger, and whether a later entry takes it back, was not seen.'
      : 'The bytes, the chain and the tree agree with themselves.';
  conclude({ good, alone: unproven, title, says, problems, checks: checksOf(result), level: alone ? 'One receipt, by itself' : 'Level 1' });
  if (!good) return;
  if (shownEntry) showReceipt(shownEntry, chain.statements.filter((s) => s.about === shownEntry.hash), unproven ? uncheckedText(shownEntry, opened) : '');
  else listEntries(mine, entries, chain, unproven);
}

// uncheckedText says what was not looked at, and what looks at it.
function uncheckedText(entry, opened) {
  if (opened) return 'The chain that it stands on was not followed. The button above checks the whole of it.';
  return `Not checked against a ledger: run "referee receipt verify ${entry.hash}" in a clone of ${entry.receipt.repository.name}.`;
}

// checksOf lists what was looked at, and how it came out.
function checksOf({ chain, problems, head, partial, alone, proofs = [], whole, aliases }) {
  const fails = (...codes) => problems.some((p) => codes.includes(p.code)) ? 'fails' : 'holds';
  const tree = fails('LDG-204', 'LDG-301', 'LDG-302');
  const checks = [
    [fails('LDG-103', 'LDG-104', 'LDG-105'), 'Bytes', 'canonical, and their SHA-256 is the name that they were given under'],
    [fails('LDG-106', 'LDG-107', 'LDG-108'), 'Form', 'each receipt could have been minted: its members, a human’s decision, its counts'],
    [alone ? 'unseen' : fails('LDG-201', 'LDG-202', 'LDG-203', 'LDG-205', 'LDG-206', 'LDG-207', 'LDG-303', 'LDG-304'), 'Chain', alone ? 'one receipt was given; its place among others was not seen'
      : partial ? 'each entry names the one before it; the entries before the first were not given' : 'each entry names the one before it, back to the first'],
    [tree === 'fails' ? tree : partial || alone || chain.broken ? 'unseen' : 'holds', 'Tree', head ? 'the Merkle root of HEAD.json and of every entry covers exactly these bytes' : 'the Merkle root of every entry; HEAD.json was not given'],
  ];
  if (proofs.length) checks.push([fails('LDG-204'), 'Inclusion proof', 'the entry stands in the tree of the proof']);
  if (whole || aliases) checks.push([fails('LDG-101', 'LDG-109', 'LDG-110', 'LDG-111'), 'Paths', 'the same bytes by place, by hash and by pull request']);
  return checks;
}

// listEntries shows the newest entries, each to be opened.
function listEntries(mine, entries, chain, unproven) {
  const newest = entries.filter((e) => e.receipt).slice(-100).reverse();
  $('entries').hidden = newest.length === 0;
  replace($('entries'), el('h2', '', newest.length < entries.length ? `The newest ${newest.length} entries` : 'The entries'), el('ul', 'list', newest.map((e) => {
    const r = e.receipt;
    const button = el('button', '', el('b', '', r.receipt_id), el('span', '', joined(' · ', unproven ? `says ${r.kind}` : joined(' · ', KINDS[r.kind][0], r.verdict?.severity), r.run.id)));
    button.type = 'button';
    button.addEventListener('click', () => openListed(mine, e, chain, unproven));
    return el('li', '', button);
  })));
}

// openListed shows an entry of the list, if its bytes are still the ones that were checked and nothing else was asked for meanwhile.
async function openListed(mine, entry, chain, unproven) {
  try {
    const whole = await reopen(entry);
    if (mine !== job) return;
    showReceipt(whole, chain.statements.filter((s) => s.about === entry.hash), unproven ? uncheckedText(whole) : '');
    $('receipt').scrollIntoView();
  } catch (e) {
    await attempt(() => { throw e; });
  }
}

// slim leaves of an entry what the chain needs and a list shows, so that a long ledger fits into memory; reopen has the whole of it again.
function slim(entry) {
  if (entry.receipt) entry.receipt = { ...entry.receipt, findings: undefined, evidence: undefined, checklist: undefined, assignment: undefined, advisory: undefined };
  return entry;
}

async function reopen(entry) {
  const bytes = entry.file ? new Uint8Array(await entry.file.arrayBuffer()) : await load(pathsOf(0, entry.name)[1]);
  if (!bytes) throw new Error('The file is gone since it was checked.');
  const whole = await examine(bytes, entry.name);
  if (whole.hash !== entry.hash) throw new Error('The file has changed since it was checked.');
  return whole;
}

// ---- from the branch

// load gives the bytes of a file beside the page, null if there is none. It reads no more than a ledger's file may have.
async function load(path) {
  const response = await fetch(BASE + path, { cache: 'no-store', credentials: 'omit', redirect: 'error' });
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`${path}: the server says ${response.status}`);
  const reader = response.body.getReader();
  const parts = [];
  for (let length = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return concat(...parts);
    parts.push(value);
    length += value.length;
    if (length > MAX_BYTES) {
      await reader.cancel();
      throw new Error(`${path}: more than ${MAX_BYTES} bytes`);
    }
  }
}

// loadHead gives HEAD.json, or null and a problem.
async function loadHead(problems) {
  try {
    const bytes = await load('HEAD.json');
    if (bytes) return await readHead(bytes);
    problems.push({ code: 'LDG-301', seq: -1, message: 'HEAD.json is missing: this page does not stand in a ledger' });
  } catch (e) {
    problems.push({ code: 'LDG-301', seq: -1, message: e.message });
  }
  return null;
}

async function openHash(hash) {
  await attempt(async (mine) => {
    const bytes = await load(pathsOf(0, hash)[1]);
    if (!bytes) throw new Error(`This ledger holds no receipt ${hash}.`);
    const entry = Object.assign(await examine(bytes, hash), { name: hash });
    const problems = SHARED ? [] : await pathProblems(entry, bytes);
    const head = await loadHead(problems);
    if (entry.problem || !head || head.count > WALK_AT_ONCE) await single(mine, entry, problems, head);
    else await walk(mine, head, entry, problems);
  });
}

async function pathProblems(entry, bytes) {
  if (!entry.receipt) return [];
  const problems = [];
  const [place, , pull] = pathsOf(entry.receipt.seq, entry.name, entry.receipt.pull_request?.number);
  for (const path of [place, pull].filter(Boolean)) {
    const other = await load(path);
    const code = other ? 'LDG-110' : 'LDG-109';
    if (!other || hexOf(other) !== hexOf(bytes)) problems.push({ code, seq: entry.receipt.seq, message: `${path} ${other ? 'holds other bytes' : 'is missing'}` });
  }
  return problems;
}

// single judges one receipt of a long ledger, and offers to walk the whole of it.
async function single(mine, entry, found, head) {
  const problems = [...found];
  if (entry.problem) problems.push({ ...entry.problem, seq: entry.receipt?.seq ?? -1 });
  if (head && entry.receipt?.seq >= head.count) problems.push({ code: 'LDG-302', seq: entry.receipt.seq, message: `HEAD.json says ${head.count} entries; this one is none of them` });
  await finish(mine, { entries: [entry], chain: new Chain(), problems, head, alone: true, opened: entry, aliases: !SHARED });
  if (!head) return;
  const button = el('button', 'primary', `Check the whole chain: ${head.count.toLocaleString('en')} entries`);
  button.id = 'walk';
  button.type = 'button';
  button.addEventListener('click', () => attempt((next) => walk(next, head, entry, found)));
  $('outcome').append(button);
}

// walk follows the chain from its tip to the first entry, then judges it in its own order.
async function walk(mine, head, opened, found) {
  const entries = [];
  const problems = [...found];
  let hash = head.tip;
  for (let seq = head.count - 1; seq >= 0; seq--) {
    progress(mine, head.count - 1 - seq, head.count, 'Fetching entry');
    const path = pathsOf(0, hash)[1];
    const bytes = await load(path);
    if (!bytes) {
      problems.push({ code: 'LDG-201', seq, message: `${path} is missing; the chain cannot be followed further back` });
      break;
    }
    const entry = slim(await examine(bytes, hash));
    entries.push(Object.assign(entry, { seq, name: hash }));
    if (!entry.receipt) break;
    hash = entry.receipt.parent_hash;
    if (seq > 0 && hash === NO_PARENT) {
      problems.push({ code: 'LDG-302', seq: entry.receipt.seq, message: `the chain ends here, ${seq} entries before HEAD.json says` });
      break;
    }
  }
  await judgeWalk(mine, { head, entries: entries.reverse(), problems, opened });
}

async function judgeWalk(mine, { head, entries, problems, opened }) {
  const chain = new Chain();
  const from = entries[0]?.seq ?? head.count;
  if (from > 0) Object.assign(chain, { tip: entries[0]?.receipt?.parent_hash ?? NO_PARENT, broken: true });
  for (const entry of entries) {
    if (entry.seq % 25 === 0) progress(mine, entry.seq, head.count, 'Checking entry');
    await chain.link(entry.seq, entry);
  }
  if (from === 0) await chain.ends(head, await loadInfo(problems));
  if (opened && from === 0 && !chain.facts.has(opened.hash)) {
    problems.push({ code: 'LDG-111', seq: opened.receipt?.seq ?? -1, message: 'the receipt is not in the chain that HEAD.json ends' });
  }
  await finish(mine, { entries, chain, problems: [...problems, ...chain.problems], head, partial: from > 0, alone: false, opened, aliases: opened && !SHARED });
}

async function loadInfo(problems) {
  try {
    const bytes = await load('LEDGER.json');
    if (bytes) return readPart(bytes, 'info', 'LEDGER.json');
    problems.push({ code: 'LDG-303', seq: -1, message: 'LEDGER.json is missing' });
  } catch (e) {
    problems.push({ code: 'LDG-303', seq: -1, message: e.message });
  }
  return null;
}

// ---- beginning

// dropped gives the files of a drop, those in folders with their paths. The entries must be asked for before the first await.
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return [...transfer.files];
  const files = [];
  const visit = async (entry, path) => {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      file.relativePath = path + entry.name;
      files.push(file);
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (batch.length === 0) return;
      for (const child of batch) await visit(child, `${path}${entry.name}/`);
    }
  };
  for (const entry of entries) await visit(entry, '');
  return files;
}

function listen() {
  for (const id of ['files', 'folder']) $(id).addEventListener('change', (e) => openFiles(e.target.files));
  const drop = $('drop');
  for (const name of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    document.addEventListener(name, (e) => {
      e.preventDefault();
      drop.classList.toggle('over', name === 'dragenter' || name === 'dragover');
    });
  }
  document.addEventListener('drop', async (e) => openFiles(await dropped(e.dataTransfer)));
  $('stop').addEventListener('click', () => {
    job++;
    $('progress').hidden = true;
    state('idle');
  });
  $('lookup').addEventListener('submit', (e) => {
    e.preventDefault();
    const hash = $('hash').value.trim().toLowerCase();
    if (!HASH.test(hash)) $('hash').setCustomValidity('64 hexadecimal digits');
    $('hash').reportValidity();
    if (HASH.test(hash)) location.hash = hash;
  });
  $('hash').addEventListener('input', () => $('hash').setCustomValidity(''));
  window.addEventListener('hashchange', fromAddress);
}

function walkAll() {
  return attempt(async (mine) => {
    const problems = [];
    const head = await loadHead(problems);
    if (head) await walk(mine, head, null, problems);
    else await finish(mine, { entries: [], chain: new Chain(), problems, head });
  });
}

function fromAddress() {
  const hash = location.hash.slice(1) || SHARED?.[1] || '';
  if (HASH.test(hash)) openHash(hash);
  else if (hash === 'all') walkAll();
}

function start() {
  state('idle');
  listen();
  if (!globalThis.crypto?.subtle) {
    conclude({ good: false, title: 'This browser cannot compute SHA-256 here.', says: 'Open the page over https, or from a file of your own.', checks: [], problems: [] });
    return;
  }
  $('published').hidden = !SERVED;
  fromAddress();
}

start();
