// The canonical profile: one pass over the bytes, the same verdicts and rules as the package internal/canonical and as the
// corpus testdata/canonical, which the tests run in here.

const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 16;
const SHORT_ESCAPES = new Set([8, 9, 10, 12, 13]);

// Refused says by which rule, and where, a text leaves the profile.
class Refused extends Error {
  constructor(offset, rule, message) {
    super(message);
    this.offset = offset;
    this.rule = rule;
  }
}

class Checker {
  constructor(bytes) {
    this.b = bytes;
    this.i = 0;
  }

  fail(rule, message, at = this.i) {
    throw new Refused(at, rule, message);
  }

  text() {
    const b = this.b;
    if (b.length > MAX_BYTES) this.fail('size', `${b.length} bytes, at most ${MAX_BYTES} are allowed`, MAX_BYTES);
    if (b[0] === 0xEF && b[1] === 0xBB && b[2] === 0xBF) this.fail('bom', 'the text begins with a byte order mark');
    if (b.length === 0) this.fail('grammar', 'the text is empty');
    if (isSpace(b[0])) this.fail('white-space', 'white space before the object');
    if (b[0] !== 0x7B) this.fail('root', 'the text does not begin with an object');
    this.value(1);
    if (this.i < b.length) this.fail('trailing', 'something follows the object');
  }

  value(depth) {
    const c = this.b[this.i];
    if (c === 0x22) return this.string();
    if (c === 0x7B || c === 0x5B) {
      if (depth > MAX_DEPTH) this.fail('depth', `nested deeper than ${MAX_DEPTH}`);
      return c === 0x7B ? this.object(depth) : this.array(depth);
    }
    if (c === 0x2D || isDigit(c)) return this.number();
    for (const word of ['true', 'false']) {
      if (c === word.charCodeAt(0) && this.startsWith(word)) {
        this.i += word.length;
        return undefined;
      }
    }
    if (this.startsWith('null')) this.fail('null', 'null; leave the member out');
    return this.unexpected('a value');
  }

  startsWith(word) {
    for (let k = 0; k < word.length; k++) {
      if (this.b[this.i + k] !== word.charCodeAt(k)) return false;
    }
    return true;
  }

  unexpected(want) {
    if (this.i >= this.b.length) this.fail('grammar', `the text ends where ${want} is expected`);
    if (isSpace(this.b[this.i])) this.fail('white-space', 'white space outside a string');
    this.fail('grammar', `another byte where ${want} is expected`);
  }

  array(depth) {
    this.i++;
    if (this.b[this.i] === 0x5D) {
      this.i++;
      return;
    }
    for (;;) {
      this.value(depth + 1);
      if (this.ends(0x5D, 'a comma or ]')) return;
    }
  }

  object(depth) {
    this.i++;
    if (this.b[this.i] === 0x7D) {
      this.i++;
      return;
    }
    for (let last = null; ;) {
      last = this.key(last);
      this.value(depth + 1);
      if (this.ends(0x7D, 'a comma or }')) return;
    }
  }

  // ends steps over a comma, or over the bracket that ends the array or object.
  ends(bracket, want) {
    const c = this.b[this.i];
    if (c !== 0x2C && c !== bracket) this.unexpected(want);
    this.i++;
    return c === bracket;
  }

  key(last) {
    if (this.b[this.i] !== 0x22) this.unexpected('a key');
    const start = this.i + 1;
    let end = start;
    while (isKeyByte(this.b[end], end === start)) end++;
    if (end === start || this.b[end] !== 0x22) this.fail('key', 'a key must match [a-z][a-z0-9_]*', Math.min(end, this.b.length));
    const key = ascii(this.b.subarray(start, end));
    if (last === key) this.fail('duplicate', `the key "${key}" stands twice`);
    if (last !== null && last > key) this.fail('sorted', `the key "${key}" stands after "${last}"`);
    this.i = end + 1;
    if (this.b[this.i] !== 0x3A) this.unexpected('a colon');
    this.i++;
    return key;
  }

  number() {
    const start = this.i;
    const digits = this.b[start] === 0x2D ? start + 1 : start;
    let end = digits;
    while (isDigit(this.b[end])) end++;
    const next = this.b[end];
    const zero = this.b[digits] === 0x30;
    if (end === digits) this.fail('grammar', 'a minus sign without digits');
    if (next === 0x2E || next === 0x65 || next === 0x45) this.fail('integer', 'a number with a fraction or an exponent');
    if (zero && end - digits > 1) this.fail('integer', 'a number with a leading zero');
    if (zero && digits > start) this.fail('integer', '-0; write 0');
    const text = ascii(this.b.subarray(digits, Math.min(end, digits + 17)));
    if (end - digits > 16 || BigInt(text) > BigInt(Number.MAX_SAFE_INTEGER)) this.fail('range', 'an integer beyond ±(2^53−1)');
    this.i = end;
  }

  string() {
    this.i++;
    for (;;) {
      const c = this.b[this.i];
      if (c === undefined) this.fail('grammar', 'the text ends inside a string');
      if (c === 0x22) {
        this.i++;
        return;
      }
      if (c === 0x5C) this.escape();
      else if (c < 0x20) this.fail('escape', 'a control that must be escaped');
      else if (c < 0x7F) this.i++;
      else this.codePoint();
    }
  }

  codePoint() {
    const [point, length] = decodeUTF8(this.b, this.i);
    if (length === 0) this.fail('utf-8', 'a byte that is not UTF-8 here');
    if (isForbidden(point)) this.fail('code-point', `${unicodeName(point)} may not stand in a string`);
    this.i += length;
  }

  // escape takes the escapes that RFC 8785 prints, and no other.
  escape() {
    const b = this.b;
    const c = b[this.i + 1];
    if ([0x22, 0x5C, 0x62, 0x74, 0x6E, 0x66, 0x72].includes(c)) {
      this.i += 2;
      return;
    }
    if (c !== 0x75) this.fail('escape', 'an escape that RFC 8785 does not write');
    if (b.length - this.i < 6) this.fail('grammar', 'the text ends inside an escape');
    const hex = ascii(b.subarray(this.i + 2, this.i + 6));
    if (!/^00[01][0-9a-f]$/.test(hex) || SHORT_ESCAPES.has(parseInt(hex, 16))) this.fail('escape', 'an escape that RFC 8785 does not write');
    this.i += 6;
  }
}

// ascii turns bytes into a text; short ones, which most are, without a decoder.
function ascii(bytes) {
  return bytes.length < 100 ? String.fromCharCode(...bytes) : new TextDecoder('latin1').decode(bytes);
}

function isSpace(c) { return c === 0x20 || c === 0x09 || c === 0x0A || c === 0x0D; }
function isDigit(c) { return c >= 0x30 && c <= 0x39; }
function isKeyByte(c, first) { return c >= 0x61 && c <= 0x7A || !first && (isDigit(c) || c === 0x5F); }

// decodeUTF8 gives the code point at i and its length, length 0 if the bytes are not UTF-8: no long forms, no surrogates.
function decodeUTF8(b, i) {
  const c = b[i];
  if (c < 0x80) return [c, 1];
  const length = c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
  if (length === 0) return [0, 0];
  let point = c & (0xFF >> (length + 1));
  for (let k = 1; k < length; k++) {
    const next = b[i + k];
    if (next === undefined || (next & 0xC0) !== 0x80) return [0, 0];
    point = point << 6 | next & 0x3F;
  }
  const short = point < [0, 0, 0x80, 0x800, 0x10000][length];
  if (short || point > 0x10FFFF || point >= 0xD800 && point <= 0xDFFF) return [0, 0];
  return [point, length];
}

// isForbidden has what readers disagree on, what turns the text around for a human, and what is no character.
function isForbidden(r) {
  if (r === 0x7F || r === 0x061C || r === 0x200E || r === 0x200F) return true;
  if (r >= 0x2028 && r <= 0x202E || r >= 0x2066 && r <= 0x2069) return true;
  return r >= 0xFDD0 && r <= 0xFDEF || (r & 0xFFFE) === 0xFFFE;
}

function unicodeName(r) { return 'U+' + r.toString(16).toUpperCase().padStart(4, '0'); }

// canonicalError gives the first reason why the bytes are not canonical, null if they are.
function canonicalError(bytes) {
  try {
    new Checker(bytes).text();
    return null;
  } catch (e) {
    if (e instanceof Refused) return e;
    throw e;
  }
}

// readCanonical gives the value of canonical bytes. No key stands twice and every number is exact, so the browser's own reader is
// right about them; its keys are never those of a prototype, for none begins with an underscore.
function readCanonical(bytes) {
  const refused = canonicalError(bytes);
  if (refused) throw refused;
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

const hexOf = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

async function sha256(bytes) { return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)); }

async function sha256Hex(bytes) { return hexOf(await sha256(bytes)); }
