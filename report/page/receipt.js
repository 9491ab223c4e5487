// Receipts: their shape, which is generated from the Go types, the forms of their strings, and the rules that every receipt keeps.
// The tests hold all of it against the package ledger, one changed member at a time.

const NO_PARENT = '0'.repeat(64);
const EMPTY_ROOT = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const EVAL = 'defendablecloud.eval-receipt/v1';
const COOK = 'defendablecloud.cook-receipt/v1';
const INCIDENT = 'defendablecloud.incident-receipt/v1';
const SIGNED = ['approved', 'amended', 'revoked', 'rejected'];
const LIVE = ['approved', 'carried'];
const TIERS = ['high', 'mid', 'low'];

const oneOf = (...words) => (s) => words.includes(s);
const matching = (pattern) => (s) => pattern.test(s);

// FORMS are what the strings must look like, by the name that the shape gives.
const FORMS = {
  hash: matching(/^[0-9a-f]{64}$/),
  git: matching(/^([0-9a-f]{40}|[0-9a-f]{64})$/),
  time: isTime,
  decimal: matching(/^-?(0|[1-9][0-9]{0,39})(\.[0-9]{1,40})?(e[+-]?[0-9]{1,3})?$/),
  text: (s) => s !== '',
  receipt_id: matching(/^DCR-[0-9]{6,9}-[0-9a-f]{8}$/),
  schema: oneOf(EVAL, COOK, INCIDENT),
  kind: oneOf('approved', 'carried', 'amended', 'revoked', 'rejected', 'superseded', 'withdrawn', 'merged', 'unreceipted'),
  decision: oneOf(...SIGNED),
  lane: oneOf('agent', 'dataset', 'compute', 'cook', 'incident'),
  approver_type: oneOf('User'),
  permission: oneOf('admin', 'maintain', 'write', 'local'),
  evidence_kind: oneOf('file', 'note', 'url', 'observation', 'tool_output', 'model_output', 'log'),
  evidence_status: oneOf('held', 'missing', 'refused', 'not_held'),
  provenance: oneOf('base', 'pull_request', 'local'),
  answer: oneOf('satisfied', 'flag', 'open'),
  tier: oneOf(...TIERS),
  severity: oneOf('honey', 'jelly', 'propolis', 'unsigned'),
  finding_severity: oneOf('critical', 'noncritical'),
  bucket: oneOf('work-defect', 'deal-finding', 'stack-fit'),
  stage: oneOf('structure', 'schema', 'math', 'evidence', 'policy', 'lane', 'checklist'),
  action: oneOf('resubmit', 'review', 'reject', 'approve'),
  incident_kind: oneOf('rogue', 'dark', 'policy_violation', 'recurring_flag', 'spend_breach'),
  incident_response: oneOf('lane_locked', 'human_approval_required', 'repair_task_recommended'),
  incident_status: oneOf('open', 'resolved'),
  ledger_format: oneOf('defendablecloud.ledger/v2'),
  proof_format: oneOf('defendablecloud.ledger-inclusion/v1', 'defendablecloud.ledger-consistency/v1'),
};

function isTime(s) {
  const m = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z$/.exec(s);
  if (!m) return false;
  const [year, month, day, hour, minute, second] = m.slice(1).map(Number);
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days && hour < 24 && minute < 60 && second < 60;
}

// shapeError says where a value leaves its shape, '' if it does not. A member that its writer would have left out is refused.
function shapeError(value, shape, path = '') {
  const at = path || 'the whole';
  if (shape.array) {
    if (!Array.isArray(value)) return `${at}: an array is expected`;
    return first(value.map((item, i) => () => shapeError(item, shape.array, `${path}/${i}`)));
  }
  if (shape.object) {
    if (typeof value !== 'object' || Array.isArray(value)) return `${at}: an object is expected`;
    return membersError(value, shape.object, path);
  }
  if (shape.type !== typeof value) return `${at}: a ${shape.type} is expected`;
  if (shape.type === 'number' && value < 0) return `${at}: a negative number`;
  if (shape.is && !FORMS[shape.is](value)) return `${at}: "${clip(value)}" is no ${shape.is.replaceAll('_', ' ')}`;
  return '';
}

function membersError(value, members, path) {
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(members, key)) return `${path}/${key}: unknown`;
  }
  return first(Object.entries(members).map(([key, member]) => () => {
    if (!Object.hasOwn(value, key)) return member.optional ? '' : `${path}/${key}: missing`;
    const empty = member.optional && ['', 0, false].includes(value[key]) || Array.isArray(value[key]) && member.optional && value[key].length === 0;
    return empty ? `${path}/${key}: empty; what is empty is left out` : shapeError(value[key], member, `${path}/${key}`);
  }));
}

// first gives the first text that is not empty.
function first(checks) {
  for (const check of checks) {
    const said = check();
    if (said) return said;
  }
  return '';
}

function clip(s) { return s.length > 80 ? s.slice(0, 80) + '…' : s; }

// receiptError says why a receipt of the right shape could not have been minted, '' if it could.
async function receiptError(r) {
  const said = first([schemaError, placeError, signatureError, timeError, refersError, auditError, checklistError, verdictError,
    severityError, findingsError, answersError, factsError, scoreError, evidenceError, cookError, incidentError].map((check) => () => check(r)));
  return said || await assignmentError(r) || subjectError(r);
}

function schemaError(r) {
  const want = { cook: COOK, incident: INCIDENT }[r.run.lane] ?? EVAL;
  return r.schema === want ? '' : `the lane ${r.run.lane} has the schema ${want}`;
}

function placeError(r) {
  if (r.seq > 999999999) return 'seq is out of range';
  if (r.log.count !== r.seq) return 'log.count is not seq; the log covers the entries before';
  if ((r.seq === 0) !== (r.parent_hash === NO_PARENT)) return '64 zeros stand as parent_hash at seq 0 and nowhere else';
  if (r.seq === 0 && r.log.root !== EMPTY_ROOT) return 'log.root at seq 0 is the SHA-256 of nothing';
  if (r.pull_request && (r.pull_request.number < 1 || r.pull_request.number > 99999999)) return 'the number of the pull request is out of range';
  const id = `DCR-${String(r.seq).padStart(6, '0')}-${r.submission.sha256.slice(0, 8)}`;
  return r.receipt_id === id ? '' : `receipt_id is not ${id}, which seq and submission make`;
}

function signatureError(r) {
  const signed = SIGNED.includes(r.kind);
  if (signed && !r.approval) return 'no approval: no receipt exists without a human’s';
  if (!signed && r.approval) return `an approval in an entry of kind ${r.kind}, which nobody signs`;
  if (signed === Boolean(r.observed_by)) return 'observed_by belongs only in entries that nobody signs';
  if (r.approval && r.approval.decision !== r.kind) return 'the approval decides something else';
  if (r.self_signed && r.approval?.approver.permission !== 'admin') return 'self_signed is an admin’s to say';
  if (r.accepted && !r.approval) return 'a finding is accepted where nobody approves';
  if (r.kind === 'merged' && !r.observed_by.sha) return 'a merged entry needs the merge commit';
  return '';
}

function timeError(r) {
  const want = r.approval ? r.approval.review.submitted_at : r.observed_by.at;
  return r.minted_at === want ? '' : 'minted_at is not the time of the review or the event';
}

function refersError(r) {
  const needed = ['carried', 'amended', 'revoked', 'superseded', 'merged'].includes(r.kind);
  if (needed && !r.refers_to) return `an entry of kind ${r.kind} needs refers_to, the earlier entry`;
  if (['approved', 'unreceipted'].includes(r.kind) && r.refers_to) return `an entry of kind ${r.kind} takes no refers_to`;
  return '';
}

function auditError(r) {
  const parts = ['semantics', 'engine', 'agent', 'assignment', 'verdict', 'report_digest'];
  const missing = parts.find((part) => r[part] === undefined);
  const needed = LIVE.includes(r.kind) || r.kind === 'rejected' || parts.some((part) => r[part] !== undefined);
  if (needed && missing) return `${missing} is missing; the audit is there as a whole or not at all`;
  const rest = ['findings_total', 'findings', 'checklist', 'evidence', 'params', 'stated', 'advisory'];
  return !needed && rest.some((part) => r[part] !== undefined) ? 'parts of an audit without a verdict' : '';
}

async function assignmentError(r) {
  const text = r.assignment?.text;
  if (!text || r.sanitized?.includes('/assignment/text')) return '';
  const hash = await sha256Hex(new TextEncoder().encode(text));
  return hash === r.assignment.sha256 ? '' : 'assignment.sha256 is not the SHA-256 of the text';
}

// subjectError recomputes what the approval says was signed. An entry without an audit repeats the subject of the one that it refers to,
// and the chain compares the two.
async function subjectError(r) {
  if (!r.approval || !r.verdict) return '';
  return r.approval.subject_digest === await subjectMade(r) ? '' : 'approval.subject_digest is not what sheet, submission, agent and evidence make: something else was signed';
}

// subjectOf is what an entry says was signed, '' where it binds no evidence.
async function subjectOf(r) {
  return r.approval ? r.approval.subject_digest : r.verdict ? subjectMade(r) : '';
}

// subjectMade is the digest that an entry's own parts make, each with its length before it: of semantics 2 also what its run.json says of the work.
async function subjectMade(r) {
  const set = r.params?.length ? ['params', String(r.params.length), ...r.params.flatMap((p) => [p.name, p.value])] : [];
  const evidence = [...set, ...(r.evidence ?? []).flatMap((e) => [e.id, e.sha256 ?? ''])];
  const bytes = [r.flight_sheet.sha256, r.submission.sha256];
  const parts = (r.semantics ?? 1) < 2 ? ['referee.subject/v1', ...bytes, ...evidence] : ['referee.subject/v2', ...bytes, ...manifestParts(r), ...evidence];
  const encoder = new TextEncoder();
  return sha256Hex(encoder.encode(parts.map((p) => `${encoder.encode(p).length}:${p}`).join('')));
}

// manifestParts are what the subject holds of the run and its agent; what is absent is an empty text.
function manifestParts(r) {
  const run = [r.run.id, r.run.lane, r.run.project ?? '', r.assignment?.sha256 ?? ''];
  if (!r.agent) return [...run, 'no agent'];
  const words = ['name', 'model', 'provider', 'harness', 'runtime', 'capability_tier', 'params_b', 'context_tokens', 'vram_gb', 'confidence_prior', 'cost_usd'];
  const lists = ['tools', 'modalities'].flatMap((key) => [String((r.agent[key] ?? []).length), ...(r.agent[key] ?? [])]);
  const temperature = r.agent.temperature ? ['temperature', r.agent.temperature] : []; // a profile without it keeps its digest
  return [...run, 'agent', ...words.map((key) => r.agent[key] ?? ''), String(r.agent.pinned ?? false), ...lists, ...temperature];
}

function checklistError(r) {
  return first((r.checklist ?? []).map((a) => () => {
    if (a.answer === 'open') return LIVE.includes(r.kind) ? `the question ${clip(a.id)} is open` : '';
    if (!a.by || !a.at) return `the answer to ${clip(a.id)} lacks a person or a time`;
    return a.answer === 'flag' && !a.note ? `the flag at ${clip(a.id)} says not why` : '';
  }));
}

function verdictError(r) {
  if (!r.verdict) return '';
  const { counts: c, risk } = r.verdict;
  if ([...Object.values(c), ...Object.values(risk)].some((n) => n > 2 ** 40)) return 'a count out of reach';
  if (c.declared === 0) return 'no rule was declared: nothing was audited';
  if (c.satisfied + c.flagged + c.skipped + c.open !== c.declared) return 'the counts do not add up to the rules declared';
  if (risk.high + risk.mid + risk.low !== (r.findings_total ?? 0)) return 'high, mid and low are not the findings in all';
  if (LIVE.includes(r.kind) && c.open > 0) return 'checks wait for a human';
  if (LIVE.includes(r.kind) && r.verdict.undecided_high) return 'a high rule was not decided';
  return '';
}

function severityError(r) {
  if (!r.verdict) return '';
  const { severity, counts, risk } = r.verdict;
  const live = LIVE.includes(r.kind);
  if (severity === 'honey' && !live) return 'honey exists only in an approved record';
  if (severity === 'unsigned' && live) return 'a signed record is honey, jelly or propolis, not unsigned';
  if (['honey', 'unsigned'].includes(severity) && (counts.flagged > 0 || r.findings_total > 0)) return `${severity} with findings`;
  return severity !== 'propolis' && risk.high > 0 ? `${severity} with high findings; that is propolis` : '';
}

// findingsError: all findings are shown up to 200, or as many as a receipt has room for, the heaviest first. One that shows fewer and is not full
// hides some.
function findingsError(r) {
  const findings = r.findings ?? [];
  const total = r.findings_total ?? 0;
  const most = Math.min(total, 200);
  if (findings.length > most) return 'more findings than there may be, or than there are in all';
  if (findings.length < most && sizeOf(r) <= FULL) return `${findings.length} findings of ${total} in all; a receipt shows ${most}, and fewer only where it is full`;
  if (findings.some((f, i) => i > 0 && compareFindings(f, findings[i - 1]) < 0)) return 'the findings are not ranked';
  return r.verdict ? riskError(r, findings) : '';
}

// FULL is how many bytes a receipt has where no room was left for a finding.
const FULL = (256 << 10) - (64 << 10);

// sizeOf is how many bytes a receipt has: in its form, only the order of the keys is not JSON.stringify's.
function sizeOf(r) { return new TextEncoder().encode(JSON.stringify(r)).length; }

const WEIGHTS = ['critical', 'noncritical'];
const BUCKETS = ['work-defect', 'deal-finding', 'stack-fit'];
const STAGES = ['structure', 'schema', 'math', 'evidence', 'policy', 'lane', 'checklist'];

function compareFindings(f, g) {
  const ranks = (h) => [TIERS.indexOf(h.tier), WEIGHTS.indexOf(h.severity), BUCKETS.indexOf(h.bucket), STAGES.indexOf(h.stage)];
  const other = ranks(g);
  return ranks(f).map((rank, i) => rank - other[i]).find((d) => d !== 0) ?? 0;
}

// riskError holds the counts by tier: of a tier above the last shown finding's, all findings are shown.
function riskError(r, findings) {
  const all = findings.length === (r.findings_total ?? 0);
  const last = TIERS.indexOf(findings.at(-1)?.tier);
  const off = TIERS.some((tier, rank) => {
    const seen = findings.filter((f) => f.tier === tier).length;
    return seen > r.verdict.risk[tier] || (all || rank < last) && seen !== r.verdict.risk[tier];
  });
  return off ? 'the findings are not the ones that the verdict counts' : '';
}

// answersError holds the counts to the answers: every check that waits for a person is a question, and has one answer.
function answersError(r) {
  if (!r.verdict) return '';
  const list = r.checklist ?? [];
  if (new Set(list.map((a) => a.id)).size !== list.length) return 'a question has two answers';
  return list.filter((a) => a.answer === 'open').length === r.verdict.counts.open ? '' : 'the open questions are not the ones that the verdict counts';
}

// sumUp is what the findings of a receipt make together.
function sumUp(findings) {
  const high = findings.filter((f) => f.tier === 'high');
  return {
    ...weighed(findings), last: findings.at(-1), unreadable: high.some((f) => f.stage === 'structure'),
    flagged: new Set(findings.flatMap((f) => f.rule_ids)), named: new Set(findings.flatMap((f) => f.rule_ids)),
    high: new Set(high.flatMap((f) => f.rule_ids)), said: findings.filter((f) => f.stage === 'checklist').length,
  };
}

// weighed is what decides severity and action.
function weighed(findings) {
  const any = (test) => findings.some(test);
  const critical = (f) => f.severity === 'critical';
  const defect = (f) => f.bucket === 'work-defect';
  return {
    critical: any(critical), fit: any((f) => f.bucket === 'stack-fit'), deal: any((f) => f.bucket === 'deal-finding'),
    heavy: any((f) => f.bucket === 'deal-finding' && (f.tier === 'high' || critical(f))),
    blocking: any((f) => defect(f) && f.tier !== 'low'), nit: any((f) => defect(f) && f.tier === 'low'),
  };
}

// restOf is what the findings that are not shown may be, each alone: the lightest that is shown bounds those of its tier.
function restOf(r, s) {
  const shown = r.findings ?? [];
  const open = TIERS.filter((tier) => shown.filter((f) => f.tier === tier).length !== r.verdict.risk[tier]);
  const kinds = open.flatMap((tier) => WEIGHTS.flatMap((severity) => BUCKETS.map((bucket) => ({ tier, severity, bucket, stage: 'checklist' }))));
  return kinds.filter((f) => !s.last || compareFindings(f, s.last) >= 0);
}

// factsError holds the verdict to the findings. What follows from all of them is held where all are there.
function factsError(r) {
  if (!r.verdict) return '';
  const s = sumUp(r.findings ?? []);
  const all = (r.findings ?? []).length === (r.findings_total ?? 0);
  return flaggedError(r, s, all) || undecidedError(r, s, all) || acceptedError(r, s, all) || severityOfError(r, s, all) || readyError(r, s, all)
    || actionError(r, s, all);
}

// undecidedError: a high rule that nobody decided was skipped, and a high finding says so (of semantics 2).
function undecidedError(r, s, all) {
  const undecided = r.verdict.undecided_high ?? [];
  if (undecided.length === 0) return '';
  if (undecided.length > r.verdict.counts.skipped) return 'more high rules are undecided than the verdict counts as skipped';
  if (r.semantics < 2) return '';
  if (r.verdict.risk.high === 0) return 'a high rule is undecided, and no finding is high';
  return all && !s.unreadable && undecided.some((id) => !s.high.has(id)) ? 'a high rule is undecided, and no high finding says so' : '';
}

// acceptedError: what a person accepts is a finding that is there.
function acceptedError(r, s, all) {
  return all && (r.accepted ?? []).some((a) => !s.named.has(a.rule_id)) ? 'a finding is accepted that is not there' : '';
}

function flaggedError(r, s, all) {
  for (const id of r.verdict.undecided_high ?? []) s.flagged.delete(id); // skipped, and a finding says so
  const flagged = r.verdict.counts.flagged;
  const no = (r.checklist ?? []).filter((a) => a.answer === 'flag').length;
  if (all ? s.flagged.size !== flagged : s.flagged.size > flagged) return 'the findings name other rules than the verdict counts as flagged';
  return (all ? s.said !== no : s.said > no) ? 'where a person says no, a finding says so' : '';
}

function severityOfError(r, s, all) {
  const { severity, severity_if_approved: approved, risk } = r.verdict;
  if (!r.findings_total) {
    if (!['honey', 'unsigned'].includes(severity)) return `${severity} without a finding`;
    return approved === undefined || approved === 'honey' ? '' : 'severity_if_approved is not what the findings make';
  }
  const hidden = !all && risk.high === 0 && restOf(r, s).some((f) => f.severity === 'critical');
  if (hidden && !s.critical) return ''; // a critical one may be among those that are not shown
  const want = risk.high > 0 || s.critical ? 'propolis' : 'jelly';
  if (severity !== want) return `${severity}, the findings make it ${want}`;
  return approved === undefined || approved === want ? '' : 'severity_if_approved is not what the findings make';
}

function readyError(r, s, all) {
  const v = r.verdict;
  const kept = s.blocking || s.fit || v.counts.open > 0 || Boolean(v.undecided_high);
  if (v.client_ready && kept) return 'client_ready with a defect, or with something that is open or undecided';
  return !v.client_ready && !kept && all && v.counts.skipped === 0 ? 'client_ready is false, and nothing keeps it from being true' : '';
}

// actionError holds the recommended action to S39, by the text that the semantics number had.
function actionError(r, s, all) {
  const allowed = all ? actions(r, s) : restOf(r, s).flatMap((f) => actions(r, withFinding(s, weighed([f]))));
  return allowed.includes(r.verdict.recommended_action) ? '' : `the recommended action is ${r.verdict.recommended_action}, the findings make it ${[...new Set(allowed)].sort().join(' or ')}`;
}

function withFinding(s, one) {
  return Object.fromEntries(Object.entries(s).map(([key, value]) => [key, value || one[key]]));
}

function actions(r, s) {
  const first = r.semantics < 2;
  const review = s.fit || s.nit;
  if (s.blocking) return ['resubmit'];
  if (first && review) return ['review'];
  if (s.heavy && (first || r.run.lane !== 'incident')) return ['reject'];
  if (review || s.deal || r.verdict.counts.open > 0 || r.verdict.undecided_high) return ['review'];
  return r.verdict.counts.skipped > 0 ? ['approve', 'review'] : ['approve'];
}

// scoreError recomputes what follows from the counts.
function scoreError(r) {
  if (!r.verdict) return '';
  const { counts: c, risk, ...v } = r.verdict;
  const decided = c.satisfied + c.flagged;
  if (v.score !== share(c.satisfied, c.declared)) return 'the score is not what the counts make';
  if (v.score_fraction !== undefined && v.score_fraction !== `${c.satisfied}/${c.declared}`) return 'the fraction is not what the counts make';
  if (v.score_decided !== undefined && v.score_decided !== share(c.satisfied, decided)) return 'score_decided is not what the counts make';
  if (v.coverage !== undefined && v.coverage !== share(decided, c.declared)) return 'the coverage is not what the counts make';
  if (v.weighted_score !== undefined && !inHundred(v.weighted_score)) return 'weighted_score is not within 0 and 100';
  return (v.risk_points ?? 0) === 5 * risk.high + 2 * risk.mid + risk.low ? '' : 'risk_points are not what the findings make';
}

function inHundred(s) {
  if (!FORMS.decimal(s)) return false;
  const [zero, n, hundred] = sameScale('0', s, '100');
  return zero <= n && n <= hundred;
}

// share is 100·n/d, floored to one decimal.
function share(n, d) {
  if (d === 0) return '0';
  const tenths = BigInt(n) * 1000n / BigInt(d);
  return `${tenths / 10n}.${tenths % 10n}`.replace(/\.0$/, '');
}

function evidenceError(r) {
  return first((r.evidence ?? []).map((e) => () => {
    if ((e.status === 'held') !== Boolean(e.sha256)) return `the evidence ${clip(e.id)}: sha256 stands with what is held`;
    return (e.provenance === 'pull_request') !== Boolean(e.added_by) ? `the evidence ${clip(e.id)}: added_by stands with a pull request` : '';
  }));
}

function cookError(r) {
  if ((r.schema === COOK) !== Boolean(r.cook)) return 'the member cook belongs only in a cook receipt';
  if (!r.cook) return '';
  const [before, after, lift] = sameScale(r.cook.eval_before, r.cook.eval_after, r.cook.lift);
  if (r.cook.before === r.cook.after) return 'before and after are the same receipt';
  if (after <= before) return 'no lift; a cook receipt exists only for a lift';
  return after - before === lift ? '' : 'the lift is not the difference of the two scores';
}

function incidentError(r) {
  if ((r.schema === INCIDENT) !== Boolean(r.incident)) return 'the member incident belongs only in an incident receipt';
  return r.incident?.kind === 'recurring_flag' && r.incident.receipts.length === 0 ? 'a recurring flag needs the receipts that show it' : '';
}

// sameScale turns decimals into whole numbers of one unit, so that they compare exactly.
function sameScale(...decimals) {
  const parts = decimals.map((s) => {
    const [mantissa, exponent = '0'] = s.split('e');
    const [whole, fraction = ''] = mantissa.split('.');
    return { digits: BigInt(whole + fraction), scale: Number(exponent) - fraction.length };
  });
  const least = Math.min(...parts.map((p) => p.scale));
  return parts.map((p) => p.digits * 10n ** BigInt(p.scale - least));
}

// notReceipt says what a JSON file is that is no receipt of this version, to be put behind its name and "is"; '' for a receipt, whatever is wrong with
// it, and for what is not JSON. It decides nothing. FACTS has the forms, which the program knows by the same list.
function notReceipt(bytes) {
  const value = parsedLine(bytes);
  if (value === undefined) return '';
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return 'JSON, but not an object: not a receipt';
  if (Object.keys(value).length === 0) return 'an empty object, not a receipt';
  const schema = [value.schema, value.format].find((s) => typeof s === 'string' && s !== '') ?? '';
  const known = [EVAL, COOK, INCIDENT];
  if (known.includes(schema)) return '';
  if (schema.startsWith('defendablecloud.') && schema.includes('-receipt/')) {
    return `an entry of the schema "${clip(schema)}", which this version does not know; it knows ${known.join(', ')}`;
  }
  const form = FACTS.papers.find((f) => f.schema ? schema.startsWith(f.schema) : f.keys.every((key) => Object.hasOwn(value, key)));
  if (form) return `${form.is}, not a receipt`;
  return schema === '' ? 'a JSON object without a schema, not a receipt' : `a file of the schema "${clip(schema)}", not a receipt`;
}

// parsedLine reads the whole as JSON, or its first line: reports come as lines. It is undefined where neither is JSON.
function parsedLine(bytes) {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  for (const part of [text, text.split('\n', 1)[0]]) {
    try {
      return JSON.parse(part);
    } catch { /* the next, or none */ }
  }
  return undefined;
}
