/** Lists mistakes of senders: what was posted to a gateway with usual mappings, and where somebody sees that it was wrong. */

import { gzipSync } from 'node:zlib'
import { configuration, type Files, gatewayToken, hookToken } from '../installation.ts'
import { signedByGitHub, signedByStripe } from '../signed.ts'

interface Sent {
  /** A few words about the request. They name the test. */
  readonly name: string
  /** Default: POST. */
  readonly method?: 'GET' | 'PUT'
  /** Below `/hooks/`. */
  readonly path: string
  /** They replace the token. A content type of JSON is there by default. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

export interface SendersMistake extends Sent {
  /** The answer's status, with its code or its outcome. */
  readonly answer: readonly [status: number, code: string]
  /** A part of what the sender reads. */
  readonly says?: string
  /** A part of what the operator reads in the record of the request: the reason, or the clause that failed. */
  readonly record?: string
  /** The key of an issue that is open afterwards, and a part of its cause. */
  readonly issue?: readonly [key: string, cause: string]
}

/** A request read as its sender meant it, or silently read otherwise for a reason. */
export interface Accepted extends Sent {
  /** The agent's message. */
  readonly message: string
}

const secret = '5f0c7f0e4f4b3b1a9d2c8e6a7b5d4c3f'

export const files: Files = {
  'reveille.yaml': configuration.replace(
    `token: ${hookToken} }`,
    `token: ${hookToken}, maxBodyBytes: 20000, endpoints: { github: { verify: { provider: github, secret: ${secret} } }, stripe: { verify: { provider: stripe, secret: ${secret} } } } }`,
  ),
  'mappings/all.yaml': `mappings:
  - id: orders
    match: { path: orders }
    schema: { type: object, required: [id, total], properties: { id: { type: integer }, total: { type: number }, status: { type: string } } }
    message: 'Order {{id}}: {{total}} {{status}}'
  - { id: once, match: { path: once }, dedupe: { key: id }, message: 'Order {{id}}: {{total}}' }
  - { id: notes, match: { path: notes }, message: 'A note: {{text}}' }
  - { id: strict, match: { path: strict }, strict: true, message: 'A note: {{text}}' }
  - { id: alerts, match: { path: alerts }, forEach: alerts, message: 'Alert {{item.name}}' }
  - { id: opened, match: { path: github, headers: { x-github-event: issues }, body: { action: opened } }, message: '{{issue.title}}' }
  - { id: paid, match: { path: stripe, body: { type: invoice.paid } }, message: '{{data.object.id}}' }
`,
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
const token = bearer(hookToken)
const typed = (type: string) => ({ ...token, 'content-type': type })
const charset = (name: string) => typed(`application/json; charset=${name}`)
const encoded = (how: string) => ({ ...token, 'content-encoding': how })
const formType = 'application/x-www-form-urlencoded'
const form = typed(formType)
const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const latin1 = (text: string) => Buffer.from(text, 'latin1')

export const order = '{"id":7,"total":12.5,"status":"paid"}'
const issue = '{"action":"opened","issue":{"title":"Dim the lamp"}}'
const event = '{"type":"invoice.paid","data":{"object":{"id":"in_1"}}}'
const signature = signedByGitHub(issue, secret)['x-hub-signature-256']
const ofGitHub = (body: string, event = 'issues') => ({
  'x-github-event': event,
  ...signedByGitHub(body, secret),
})

type More = Partial<SendersMistake>
const refused = (
  name: string,
  path: string,
  body: string | Buffer,
  answer: SendersMistake['answer'],
  says: string,
  more: More = {},
): SendersMistake => ({ name, path, body, answer, says, ...more })

/** The sender reads the sentence, and the operator the issue. */
const unreadable = (
  name: string,
  body: string | Buffer,
  code: string,
  says: string,
  headers: Sent['headers'] = token,
  status = 400,
): SendersMistake =>
  refused(name, 'orders', body, [status, code], says, { headers, issue: ['BODY_REFUSED:orders', code] })
const noJson = (name: string, body: string | Buffer, says: string, headers = token) =>
  unreadable(name, body, 'INVALID_JSON', `The body is not valid JSON${says}.`, headers)

const againstSchema = (name: string, body: string, says: string, headers: Sent['headers'] = token) =>
  refused(name, 'orders', body, [400, 'PAYLOAD_SCHEMA'], says, {
    headers,
    issue: ['MAPPING_REFUSES:orders', 'PAYLOAD_SCHEMA'],
  })

/** The sender reads no reason, because it may be anybody. */
const outsider = (name: string, headers: Sent['headers'], record: string) =>
  refused(name, 'orders', order, [401, 'UNAUTHORIZED'], 'The token or signature is missing or wrong.', {
    headers: headers ?? {},
    record,
    issue: ['TOKEN_REFUSED:orders', ''],
  })
const unverified = (name: string, path: string, body: string, headers: Sent['headers'], record: string) =>
  refused(name, path, body, [401, 'UNAUTHORIZED'], 'The token or signature is missing or wrong.', {
    headers: headers ?? {},
    record,
    issue: [`SIGNATURE_REFUSED:${path}`, ''],
  })
const wronglySigned = (name: string, headers: Sent['headers'], record: string) =>
  unverified(name, 'github', issue, { 'x-github-event': 'issues', ...headers }, record)
const wronglyTimed = (name: string, headers: Sent['headers'], record: string) =>
  unverified(name, 'stripe', event, headers, record)

/** It is right to ignore what no mapping wants, and the record says which value it was. */
const ignored = (name: string, path: string, body: string, headers: Sent['headers'], record: string) =>
  refused(name, path, body, [200, 'ignored'], `no mapping of endpoint "${path}" matched (1 tried)`, {
    headers: headers ?? {},
    record,
  })
const notFound = (name: string, path: string) =>
  refused(name, path, order, [404, 'NOT_FOUND'], 'There is nothing at this address.', { record: 'NOT_FOUND' })
const otherMethod = (method: 'GET' | 'PUT', body: string) =>
  refused(method, 'orders', body, [405, 'METHOD_NOT_ALLOWED'], 'set the sender to POST', {
    method,
    record: 'METHOD_NOT_ALLOWED',
  })
const toAgent = (name: string, body: string, code: string, says: string) =>
  refused(name, 'agent', body, [400, code], says)

const long = `{"status":"${'x'.repeat(30_000)}"}`
const payed = '{"type":"invoice.payed"}'
const notInCharset = 'not valid in its charset (default UTF-8)'
const notAsEncoded = 'does not match its content encoding'
const tooLarge = 'The body exceeds the size limit.'
const absent = 'names text, which is absent'
const strict: More = { issue: ['MAPPING_REFUSES:strict', '/message'] }
const noElements = 'forEach of "alerts" gave no elements'
const unknownToken = 'none of those that are configured'
const noBearer = 'the header authorization is not `Bearer` and a token'
const otherSecret = 'wrong secret, or the body was changed'

const bodies: readonly SendersMistake[] = [
  noJson('words', 'the order 7 was paid', ''),
  noJson('a body that was cut', order.slice(0, 20), ': it ends too early'),
  noJson('a body that was cut inside a text', order.slice(0, 30), ': it ends too early'),
  noJson('a comma before the end', '{"id":7,"total":12.5,}', ': it is wrong at line 1, column 22'),
  noJson('single quotes', "{\n'id':7}", ': it is wrong at line 2, column 1'),
  noJson('names without quotes', '{id:7}', ': it is wrong at line 1, column 2'),
  noJson('a comment', '{"id":7,/* net */"total":1}', ': it is wrong at line 1, column 9'),
  noJson('NaN', '{"id":7,"total":NaN}', ''),
  noJson('the None of Python', '{"id":7,"status":None}', ''),
  noJson('a line break within a text', '{"status":"a\nb"}', ': it is wrong at line 1, column 13'),
  noJson('a NUL within a text', '{"status":"a\0b"}', ': it is wrong at line 1, column 13'),
  noJson('a line of JSON for each event', `${order}\n${order}\n`, ': it is wrong at line 2, column 1'),
  noJson('XML', '<order id="7"/>', ': it begins as XML or HTML does; choose JSON at the sender'),
  noJson('a form that calls itself JSON', 'id=7', `: it is a form, whose content type has to be ${formType}`),
  noJson('brackets without end', `{"id":${'['.repeat(5000)}`, ': it ends too early'),
  noJson('UTF-16 without a mark', utf16(order), ': it is UTF-16, and has to be UTF-8'),
  unreadable('UTF-16 with its mark', utf16(`\ufeff${order}`), 'INVALID_TEXT', 'UTF-16, and has to be UTF-8.'),
  unreadable('Latin-1 that calls itself UTF-8', latin1('{"a":"ü"}'), 'INVALID_TEXT', notInCharset),
  unreadable('an unknown charset', latin1('{"a":"ü"}'), 'INVALID_TEXT', notInCharset, charset('latin-0')),
  unreadable(
    'gzip that nothing announces',
    gzipSync(order),
    'INVALID_TEXT',
    'content-encoding does not say so',
  ),
  unreadable('plain JSON that is announced as gzip', order, 'BAD_ENCODING', notAsEncoded, encoded('gzip')),
  unreadable('cut gzip', gzipSync(order).subarray(0, 30), 'BAD_ENCODING', notAsEncoded, encoded('gzip')),
  unreadable(
    'another encoding',
    order,
    'UNSUPPORTED_ENCODING',
    'must be gzip, deflate, br or identity',
    encoded('zstd'),
    415,
  ),
  unreadable('gzip that grows too large', gzipSync(long), 'BODY_TOO_LARGE', tooLarge, encoded('gzip'), 413),
  unreadable('a body beyond the limit', long, 'BODY_TOO_LARGE', tooLarge, token, 413),
  unreadable(
    'the parts of a browser form',
    '--x\r\nContent-Disposition: form-data; name="id"\r\n\r\n7\r\n--x--\r\n',
    'MULTIPART_BODY',
    'set the sender to JSON or application/x-www-form-urlencoded',
    typed('multipart/form-data; boundary=x'),
    415,
  ),
  unreadable('a form of many fields', 'a=1&'.repeat(1100), 'TOO_MANY_FIELDS', 'more than 1,000 fields', form),
  unreadable('a form in Latin-1', 'id=7&status=M%FCller', 'INVALID_TEXT', notInCharset, form),
  unreadable(
    'a form whose payload was cut',
    `payload=${encodeURIComponent(order.slice(0, 20))}`,
    'INVALID_JSON',
    'The field `payload` of the form is not valid JSON: it ends too early.',
    form,
  ),
]

const fields: readonly SendersMistake[] = [
  againstSchema('a form, in which numbers are texts', 'id=7&total=12.5', '/id must be integer', form),
  againstSchema('JSON in another field', `data=${encodeURIComponent(order)}`, '/id is required', form),
  againstSchema('a list of events', `[${order}]`, 'the payload must be object'),
  againstSchema('JSON within JSON', JSON.stringify(order), 'the payload must be object'),
  againstSchema('null', 'null', 'the payload must be object'),
  againstSchema('no body', '', '/id is required'),
  againstSchema('spaces alone', '  \n', '/id is required'),
  againstSchema('an empty object', '{}', '/id is required'),
  againstSchema('the event below another name', `{"data":${order}}`, '/id is required'),
  againstSchema('a field under another name', '{"orderId":7,"total":1}', '/id is required'),
  againstSchema('a field in capitals', '{"ID":7,"total":1}', '/id is required'),
  againstSchema('a field that is null', '{"id":7,"total":null}', '/total must be number'),
  againstSchema('a number in quotes', '{"id":7,"total":"12.5"}', '/total must be number'),
  againstSchema('a number beyond all numbers', '{"id":7,"total":1e999}', '/total must be number'),
  againstSchema('a broken id', '{"id":7.5,"total":1}', '/id must be integer'),
  againstSchema('a number for a text', '{"id":7,"total":1,"status":200}', '/status must be string'),
  againstSchema('an object for a text', '{"id":7,"total":1,"status":{}}', '/status must be string'),
  refused(
    'a strict mapping without its field',
    'strict',
    '{"txt":"a"}',
    [400, 'ABSENT_FIELD'],
    absent,
    strict,
  ),
  refused('a null in a strict mapping', 'strict', '{"text":null}', [400, 'ABSENT_FIELD'], absent, strict),
  refused('an empty list', 'alerts', '{"alerts":[]}', [200, 'skipped'], noElements, {
    record: 'no elements',
  }),
  refused('no list', 'alerts', '{}', [200, 'skipped'], noElements, { record: 'no elements' }),
  refused(
    'a list that is too long',
    'alerts',
    `{"alerts":[${Array(200).fill('{"name":"a"}')}]}`,
    [400, 'TOO_MANY_ACTIONS'],
    'more than 100 actions',
    { issue: ['MAPPING_REFUSES:alerts', 'TOO_MANY_ACTIONS'] },
  ),
  ignored('no event header', 'github', issue, signedByGitHub(issue, secret), 'match.headers.x-github-event'),
  ignored('an event that nobody wants', 'github', '{"zen":"x"}', ofGitHub('{"zen":"x"}', 'ping'), '"ping"'),
  ignored('an event that there is not', 'github', issue, ofGitHub(issue, 'issue'), '"issue"'),
  ignored('an event in capitals', 'github', issue, ofGitHub(issue, 'Issues'), '(case-sensitive)'),
  ignored('a type that there is not', 'stripe', payed, signedByStripe(payed, secret), 'invoice.payed'),
  toAgent('another name for the message', '{"text":"a"}', 'BLANK_TEXT', 'the field is called `message` here'),
  toAgent('a blank message', '{"message":" "}', 'BLANK_TEXT', 'message must not be blank'),
  toAgent(
    'a switch in quotes',
    '{"message":"x","deliver":"false"}',
    'INVALID_FIELD',
    'must be true or false',
  ),
  toAgent(
    'seconds in quotes',
    '{"message":"x","timeoutSeconds":"60"}',
    'INVALID_FIELD',
    'whole number of seconds',
  ),
  toAgent('no channel', '{"message":"x","channel":"slak"}', 'UNKNOWN_CHANNEL', 'must be "last" or one of'),
  toAgent(
    'no provider',
    '{"message":"x","model":"gpt-5"}',
    'MODEL_NOT_ALLOWED',
    'must be <provider>/<model>',
  ),
  toAgent('a list for the body', '[{"message":"x"}]', 'INVALID_BODY', 'the body must be a JSON object'),
  refused('no effect', 'agent', '{"message":"x","session_key":"a"}', [202, ''], 'did you mean `sessionKey`?'),
  refused('another mode', 'wake', '{"text":"x","mode":"later"}', [400, 'INVALID_FIELD'], 'mode must be'),
]

const addresses: readonly SendersMistake[] = [
  otherMethod('GET', ''),
  otherMethod('PUT', order),
  notFound('a name in the singular', 'order'),
  notFound('a name in capitals', 'Orders'),
  notFound('two slashes', '/orders'),
  notFound('`hooks` twice', 'hooks/orders'),
  notFound('a space after the name', 'orders%20'),
  notFound('an endpoint below `agent`', 'agent/orders'),
  refused('a query in Latin-1', 'orders?name=M%FCller', order, [400, 'INVALID_ADDRESS'], 'not valid UTF-8', {
    record: 'INVALID_ADDRESS',
  }),
  outsider('no token', {}, 'no token came'),
  outsider('another token', bearer('nonsense-0123456789'), unknownToken),
  outsider('the token of the gateway', bearer(gatewayToken), unknownToken),
  outsider('the token without `Bearer`', { authorization: hookToken }, noBearer),
  outsider('`Token` for `Bearer`', { authorization: `Token ${hookToken}` }, noBearer),
  outsider('the token as a password', { authorization: `Basic ${btoa(`hook:${hookToken}`)}` }, noBearer),
  outsider('the token in quotes', bearer(`"${hookToken}"`), unknownToken),
  outsider('an escaped line break after the token', bearer(`${hookToken}\\n`), unknownToken),
  outsider('a variable that nobody replaced', bearer('$REVEILLE_HOOK_TOKEN'), unknownToken),
  outsider('the token in another header', { 'x-api-key': hookToken }, 'no token came'),
  wronglySigned('a signature by another secret', signedByGitHub(issue, 'another'), otherSecret),
  wronglySigned('a line break after the secret', signedByGitHub(issue, `${secret}\n`), otherSecret),
  wronglySigned('a body that was written again', signedByGitHub(`${issue}\n`, secret), otherSecret),
  wronglySigned('no signature', {}, 'no signature came'),
  wronglySigned('a token for a signature', token, 'a token did, which this endpoint does not ask for'),
  wronglySigned(
    'the older signature alone',
    { 'x-hub-signature': 'sha1=01' },
    'only a weaker signature came',
  ),
  wronglySigned(
    'a signature without `sha256=`',
    { 'x-hub-signature-256': signature.slice(7) },
    'not written as the provider writes it',
  ),
  wronglyTimed('a time long ago', signedByStripe(event, secret, 1_700_000_000), 's in the past'),
  wronglyTimed('a time in milliseconds', signedByStripe(event, secret, Date.now()), 's in the future'),
  wronglyTimed(
    'a signature without its time',
    { 'stripe-signature': `v1=${'0'.repeat(64)}` },
    'the time of the signature is missing',
  ),
]

export const mistakes: readonly SendersMistake[] = [...bodies, ...fields, ...addresses]

const paid = 'Order 7: 12.5 paid'
const inOrder = (name: string, body: string | Buffer, headers: Sent['headers'] = token, message = paid) => {
  return { name, path: 'orders', body, message, headers: headers ?? {} }
}
const inNote = (name: string, body: string, message: string) => ({ name, path: 'notes', body, message })

/** Requests that are no mistake here: they are read as their sender meant them. */
export const understood: readonly Accepted[] = [
  inOrder('a byte order mark', `\ufeff${order}`),
  inOrder('no content type', order, { ...token, 'content-type': '' }),
  inOrder('JSON that calls itself text', order, typed('text/plain')),
  inOrder('JSON that calls itself a form', order, form),
  inOrder('JSON in UTF-8 that calls itself something else', order, charset('utf-9')),
  inOrder(
    'JSON in Latin-1',
    latin1(order.replace('paid', 'für')),
    charset('iso-8859-1'),
    'Order 7: 12.5 für',
  ),
  inOrder('the JSON in the field payload of a form', `payload=${encodeURIComponent(order)}`, form),
  { ...inOrder('a slash at the end', order), path: 'orders/' },
  { ...inOrder('the token in the address', order, {}), path: `orders?token=${hookToken}` },
  inOrder('an id beyond 2^53', '{"id":9007199254740993,"total":1}', token, 'Order 9007199254740993: 1 '),
  inNote('a text that holds a NUL', '{"text":"a\\u0000b"}', 'A note: a\0b'),
  { name: 'one object for a list', path: 'alerts', body: '{"alerts":{"name":"a"}}', message: 'Alert a' },
]

const blank =
  'a mapping that is not `strict` leaves a blank; lint names the field where there is a sample, and DRIFT once it stops coming'

/** Requests that are silently read otherwise than their author meant. */
export const silent: readonly (Accepted & { readonly why: string })[] = [
  { ...inNote('a field under another name', '{"txt":"hello"}', 'A note: '), why: blank },
  { ...inNote('a field that is null', '{"text":null}', 'A note: '), why: blank },
  { ...inNote('a list of events', '[{"text":"hello"}]', 'A note: '), why: blank },
  { ...inNote('a text alone', '"hello"', 'A note: '), why: blank },
  { ...inNote('no body', '', 'A note: '), why: blank },
  { name: 'a list of texts', path: 'alerts', body: '{"alerts":["a"]}', message: 'Alert ', why: blank },
  {
    ...inNote('an object for a text', '{"text":{"a":1}}', 'A note: {"a":1}'),
    why: 'it is printed as JSON, which everybody sees',
  },
  {
    ...inNote('a number beyond all numbers', '{"text":1e999}', 'A note: Infinity'),
    why: 'JSON has no limit, and a `schema` refuses it',
  },
  {
    ...inOrder('a key twice', '{"id":7,"id":8,"total":1}', token, 'Order 8: 1 '),
    why: 'parsers agree on the last one, and the kept body shows both',
  },
]
