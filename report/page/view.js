// What people see. Every text of a receipt is hostile: it becomes a text node, never markup, and what cannot be seen is spelled out.

const SVG = 'http://www.w3.org/2000/svg';
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const MANY_MARKS = /(\p{M}{4})\p{M}+/gu;

// shown spells out what moves the cursor, turns the text around or has no width.
function shown(value) {
  return String(value).replace(/\r\n?|\n/g, '\n').replace(HIDDEN, (c) => c === '\n' ? c : `<${unicodeName(c.codePointAt(0))}>`).replace(MANY_MARKS, '$1…');
}

// el makes an element with a class and children; texts become text nodes.
function el(tag, className, ...children) {
  const node = document.createElement(tag);
  node.classList.add(...className.split(' ').filter(Boolean));
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === '') continue;
    node.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
}

function replace(node, ...children) {
  node.replaceChildren();
  add(node, children);
}

const KINDS = {
  approved: ['Approved', 'A human looked at the audit of these bytes and signed them off.'],
  carried: ['Carried over', 'The same bytes after a rebase. The approval is the one of the receipt that this entry refers to.'],
  amended: ['Amended', 'The review that approved was edited afterwards. Nobody may rely on the receipt that this entry refers to.'],
  revoked: ['Revoked', 'The approval was withdrawn. Nobody may rely on the receipt that this entry refers to.'],
  rejected: ['Rejected', 'A human looked at the audit of these bytes and said no. They are not signed off.'],
  superseded: ['Superseded', 'Other bytes took the place of these.'],
  withdrawn: ['Withdrawn', 'The proposal was closed without a merge.'],
  merged: ['Merged', 'The bytes that the receipt refers to, signed off before, were merged.'],
  unreceipted: ['Unreceipted', 'These bytes are on the base branch, and no human’s approval is known for them.'],
};
const VOID = ['amended', 'revoked', 'rejected', 'superseded', 'withdrawn', 'unreceipted'];
const SEVERITIES = {
  honey: 'No rule is flagged, every question is answered, and a human signed it off.',
  jelly: 'There are findings, none of them high or critical.',
  propolis: 'At least one finding is high or critical.',
  unsigned: 'No rule is flagged, and nobody has signed it off.',
};

function comb(severity) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 40 44');
  svg.setAttribute('aria-hidden', 'true');
  svg.classList.add('comb', severity);
  for (const [className, points] of [['fill', '2,12 20,2 38,12 38,32 20,42 2,32'], ['half', '2,22 38,22 38,32 20,42 2,32'], ['edge', '2,12 20,2 38,12 38,32 20,42 2,32']]) {
    const shape = document.createElementNS(SVG, 'polygon');
    shape.setAttribute('points', points);
    shape.classList.add(className);
    svg.append(shape);
  }
  return svg;
}

const date = (s) => s ? s.replace('T', ' ').replace('Z', ' UTC') : '';
const joined = (sep, ...parts) => parts.filter(Boolean).join(sep);
const after = (word, text) => text ? `${word} ${text}` : '';
const words = (s) => (s ?? '').replaceAll('_', ' ');
const code = (s) => s ? el('code', '', s) : null;
const lines = (...parts) => parts.filter(Boolean).map((part) => el('div', '', part));

// section is a heading with what stands below it; it is left out where nothing does.
function section(title, ...children) {
  const rest = children.flat(Infinity).filter(Boolean);
  return rest.length ? el('section', '', el('h3', '', title), rest) : null;
}

// pairs lists labels and values, without those that have no value.
function pairs(...list) {
  const rows = list.filter(([, value]) => Array.isArray(value) ? value.some(Boolean) : value);
  return rows.length ? el('dl', '', rows.map(([label, value]) => [el('dt', '', label), el('dd', '', value)])) : null;
}

// table scrolls sideways by itself on a narrow screen.
function table(caption, heads, rows) {
  if (!rows.length) return null;
  const cells = (tag, list) => el('tr', '', list.map((cell) => el(tag, '', cell)));
  const head = el('thead', '', cells('th', heads));
  for (const th of head.querySelectorAll('th')) th.scope = 'col';
  const box = el('div', 'scroll', el('table', '', el('caption', 'unseen', caption), head, el('tbody', '', rows.map((row) => cells('td', row)))));
  box.tabIndex = 0;
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', caption);
  return box;
}

// receiptView is one receipt for people. statements are what later entries of the ledger say about it. unchecked says why nobody knows whether it was
// decided so, '' where the chain was followed; a receipt that has it must not look like an approved one.
function receiptView(entry, statements, unchecked) {
  const r = entry.receipt;
  const kind = KINDS[r.kind];
  return [
    el('p', 'eyebrow', { [COOK]: 'Receipt of a training run', [INCIDENT]: 'Receipt of an incident' }[r.schema] ?? 'Receipt of an audit'),
    el('h2', '', r.receipt_id),
    el('p', 'where', joined(' · ', r.repository.name, after('pull request', r.pull_request?.number), `run ${r.run.id}`)),
    unchecked ? el('p', 'note alarm', unchecked) : null,
    statements.map(statementView),
    el('div', unchecked || VOID.includes(r.kind) ? 'kind void' : 'kind', el('strong', '', unchecked ? `Says: ${kind[0]}` : kind[0]), el('div', '', lines(unchecked ? 'What the file says of itself. Anybody can write such a file.' : kind[1],
      r.self_signed ? 'Self-signed: an administrator signed this off alone, without a review by another person.' : '',
      r.approval?.approver.permission === 'local' ? 'Signed off on a computer of the signer’s own: no forge confirms who the signer is.' : ''))),
    verdictView(r.verdict, unchecked),
    decisionView(r, unchecked),
    section('Place in the chain', pairs(['This receipt, SHA-256', code(entry.hash)], ['Entry', String(r.seq)], ['Parent', r.seq === 0 ? 'none: this is the first entry' : code(r.parent_hash)],
      ['Root of the tree before', code(r.log.root)], ['Refers to', code(r.refers_to)], ['Minted', date(r.minted_at)])),
    cookView(r.cook), incidentView(r.incident), workView(r), agentView(r.agent),
    section('Limits in force', pairs(...(r.params ?? []).map((p) => [p.name, p.value]))),
    section('Figures from the agent alone, confirmed by the signer', pairs(...(r.stated ?? []).map((f) => [f.name, f.value]))),
    section('Questions to the human', table('Questions', ['Question', 'Answer', 'Note', 'By'], (r.checklist ?? []).map((a) => [a.id, el('strong', '', a.answer), a.note, lines(a.by, date(a.at))]))),
    section('Accepted findings', table('Accepted findings', ['Rule', 'Reason', 'Accepted by'], (r.accepted ?? []).map((w) => [w.rule_id, w.reason, lines(w.by, date(w.at))]))),
    findingsView(r), evidenceView(r),
    section('Advisory: never gates', pairs(...(r.advisory ?? []).map((f) => [f.path, code(f.sha256)]))),
  ];
}

function statementView(s) {
  const said = s.kind === 'incident' ? `An incident, entry ${s.seq}, names this receipt.` : `Entry ${s.seq} of this ledger says of this receipt: ${s.kind}.`;
  return el('p', ['merged', 'carried'].includes(s.kind) ? 'note' : 'note alarm', said, ' ', code(s.hash));
}

function verdictView(v, unchecked) {
  if (!v) return null;
  const number = (value, label) => el('div', 'number', el('b', '', value), el('span', '', label));
  const [tone, word, says] = unchecked ? ['unchecked', `says ${v.severity}`, 'What the file says, and nobody has confirmed.'] : [v.severity, v.severity, SEVERITIES[v.severity]];
  return el('div', `verdict ${tone}`, comb(tone), el('div', 'word', el('strong', '', word), el('p', '', says)),
    el('div', 'numbers', number(v.score, 'score of 100'), number(`${v.counts.satisfied} of ${v.counts.declared}`, 'rules satisfied'),
      number(`${v.risk.high} · ${v.risk.mid} · ${v.risk.low}`, 'high · mid · low'), number(`${v.counts.flagged}`, 'rules flagged'),
      number(`${v.counts.skipped} · ${v.counts.open}`, 'skipped · open'), number(v.recommended_action, 'recommended')));
}

function decisionView(r, unchecked) {
  const o = r.observed_by;
  if (o) return section('Observed, not signed', pairs(['Event', joined(', ', o.event, after('by', o.actor))], ['When', date(o.at)], ['Commit', code(o.sha)]));
  const { approver, review, decision, subject_digest: subject } = r.approval;
  return section(unchecked ? 'Decision that the file states, not confirmed' : 'Decision', pairs(['Decided by', lines(el('strong', '', approver.login), joined(', ', after('account', approver.id), `permission ${approver.permission}`))],
    ['Decision', `${decision}, ${date(review.submitted_at)}`], ['Recorded as', review.id ? `review ${review.id}` : 'outside a forge'],
    ['On commit', code(review.commit_sha)], ['Subject, SHA-256', code(subject)]));
}

function workView(r) {
  return section('Work', pairs(['Submission', lines(r.submission.path, code(r.submission.sha256))], ['Lane', joined(', ', r.run.lane, after('project', r.run.project))],
    ['Flight sheet', lines(`${r.flight_sheet.slug} ${r.flight_sheet.version}`, code(r.flight_sheet.sha256))],
    ['Engine', r.engine ? `referee ${r.engine.version}, semantics ${r.semantics}` : ''],
    ['Head and base', r.pull_request ? lines(code(r.pull_request.head_sha), code(r.pull_request.base_sha)) : null],
    ['Assignment', r.assignment ? lines(r.assignment.text, code(r.assignment.sha256)) : null], ['Report, SHA-256', code(r.report_digest)],
    ['Replaced visibly', (r.sanitized ?? []).join(', ')]));
}

function agentView(a) {
  if (!a) return null;
  return section('Agent', pairs(['Name', lines(joined(' · ', a.name, a.model, a.provider), a.pinned ? 'pinned by the configuration' : 'declared by the run itself')],
    ['Runs in', joined(', ', after('harness', a.harness), after('runtime', a.runtime), after('tier', a.capability_tier))],
    ['Tools', (a.tools ?? []).join(', ')], ['Cost, as declared', a.cost_usd ? `${a.cost_usd} USD` : '']));
}

function cookView(c) {
  if (!c) return null;
  return section('Training run', pairs(['Lift', el('strong', '', `${c.lift} (from ${c.eval_before} to ${c.eval_after})`)], ['Receipt before', code(c.before)],
    ['Receipt after', code(c.after)], ['Base model', c.base_model], ['Tuned model', c.tuned_model], ['Data set', `${c.dataset}, ${c.pairs} pairs`], ['Run by', joined(', ', c.runner, after('USD', c.compute_usd))]));
}

function incidentView(i) {
  if (!i) return null;
  return section('Incident', pairs(['What', el('strong', '', i.title)], ['Tier', tier(i.tier)], ['Incident', joined(', ', i.id, words(i.kind), `lane ${i.lane}`)],
    ['Status', `${i.status}, opened ${date(i.opened_at)}`], ['Detail', i.detail], ['Response', words(i.response.join(', '))], ['Shown by receipts', lines(...i.receipts.map(code))]));
}

const tier = (t) => el('span', `tier ${t}`, t);

function findingsView(r) {
  if (!r.verdict) return null;
  const findings = r.findings ?? [];
  const rest = (r.findings_total ?? 0) - findings.length;
  return section(`Findings: ${r.findings_total ?? 'none'}`,
    table('Findings', ['No.', 'Tier', 'Finding', 'Rule and place'], findings.map((f, i) => [String(i + 1), tier(f.tier), findingText(f),
      lines(el('strong', '', f.rule_ids.join(', ')), joined(', ', f.code, f.bucket, f.severity), joined(' ', joined(':', f.file, f.line), f.pointer))])),
    rest > 0 ? el('p', 'note', `${rest} more stand in the report, which this receipt binds by its SHA-256.`) : null);
}

function findingText(f) {
  const s = f.spot ?? {};
  const moves = (f.fix?.moves ?? []).map((m) => `Fix: move ${m.input} from ${m.from} to ${m.to}, all else kept`);
  return [el('div', '', f.message),
    ...lines(joined(', ', after('claimed', s.claimed), after('recomputed', s.recomputed), after('off by', s.delta), after('gate', s.gate), after('distance', s.distance)),
      after('Why:', f.why), after('Fix:', f.fix?.text), ...moves).map((line) => { line.classList.add('small'); return line; })];
}

function evidenceView(r) {
  const origin = (e) => ({ base: 'already on the base branch', pull_request: `added in the pull request by ${e.added_by}` })[e.provenance] ?? 'a local file';
  return section('Evidence', table('Evidence', ['Evidence', 'File and SHA-256', 'Bytes', 'Where from'],
    (r.evidence ?? []).map((e) => [lines(e.id, words(e.kind)), lines(e.path, e.sha256 ? code(e.sha256) : words(e.status)), String(e.bytes), origin(e)])));
}

// outcomeView is what was checked and what came out.
function outcomeView(outcome) {
  const marks = { holds: '✓', fails: '✗', unseen: '–' };
  const said = { holds: 'holds', fails: 'does not hold', unseen: 'not looked at' };
  return [
    el('p', 'eyebrow', outcome.good ? outcome.level ?? 'Level 1' : 'Not verified'),
    el('h2', '', outcome.title),
    el('p', '', outcome.says),
    el('ul', 'checks', outcome.checks.map(([state, what, detail]) => el('li', state, el('span', 'mark', marks[state]),
      el('div', '', el('strong', '', what), el('span', 'unseen', `: ${said[state]}. `), detail ? el('span', 'small', ` ${detail}`) : null)))),
    outcome.problems.length ? section('What is wrong', el('ol', 'problems', outcome.problems.slice(0, 200).map(problemView)),
      outcome.problems.length > 200 ? el('p', 'note', `${outcome.problems.length - 200} more are not listed.`) : null) : null,
    section('What this cannot show', el('ul', 'blind', FACTS.blind.map((what) => el('li', '', what)))),
  ];
}

function problemView(p) {
  const item = el('li', '', code(p.code), ' ', p.seq >= 0 ? `entry ${p.seq}: ` : '', p.message, el('div', 'small', FACTS.codes[p.code] ?? ''));
  item.dataset.code = p.code;
  return item;
}
