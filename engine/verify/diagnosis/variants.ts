/** Lists what is tried when a signature does not match, one change at a time: another secret, another address, another body. */

import { signsUrl } from '../../config/rules/material.ts'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import type { Scheme } from '../../providers/scheme.ts'
import { firstHeaderOf } from '../header.ts'
import type { SignedRequest } from '../verifier.ts'

/** A change that explains the request if the policy accepts the request. */
export interface Variant {
  readonly code: 'OTHER_ENDPOINT' | 'URL' | 'BODY_FORM'
  readonly message: string
  readonly verify: VerifyPolicy
  readonly request: SignedRequest
}

/** The policy of another endpoint, or the tokens of the gateway. */
export interface OtherPolicy {
  /** Its place as people name it: `endpoints.stripe.verify`. */
  readonly place: string
  readonly verify: VerifyPolicy
}

/** The likelier variants come first. */
export function* variantsOf(
  request: SignedRequest,
  verify: VerifyPolicy,
  schemes: readonly Scheme[],
  others: readonly OtherPolicy[],
): Iterable<Variant> {
  for (const { place, verify: other } of others) {
    const { secret, publicKey } = other
    const message = `it fits the secret of ${place}`
    yield { code: 'OTHER_ENDPOINT', message, verify: { ...verify, secret, publicKey }, request }
  }
  const which = verify.publicUrl === undefined ? 'the address that was called' : 'the configured address'
  for (const { message: how, publicUrl, target } of schemes.some(signsUrl)
    ? addresses(request, verify)
    : []) {
    const message = `it fits ${which} ${how}`.trimEnd()
    yield { code: 'URL', message, verify: { ...verify, publicUrl }, request: { ...request, target } }
  }
  for (const [how, rawBody] of bodies(Buffer.from(request.rawBody).toString())) {
    const message = `it fits the body ${how}: something between the sender and the gateway rewrote it`
    yield { code: 'BODY_FORM', message, verify, request: { ...request, rawBody } }
  }
}

/** Pairs a sentence with the choice that it describes. A choice without a sentence changes nothing. */
type Choices<Choice> = readonly (readonly [message: string, choice: Choice])[]

/**
 * Returns addresses that the sender may have been given: the configured one with one part changed, and the one that was
 * called.
 */
function addresses({ headers, target }: SignedRequest, { publicUrl }: VerifyPolicy) {
  const [asked = ''] = target.split('?', 1)
  const named = firstHeaderOf(headers, ['x-forwarded-host', 'host'])
  const base = URL.parse(publicUrl ?? `https://${named}${asked}`)
  if (base === null) return []
  const path = base.pathname === '/' ? asked : base.pathname
  const configured = { protocol: base.protocol, host: base.host, path, target }
  const changes: Choices<Partial<typeof configured>> = [
    ['', {}],
    ['with http in place of https', { protocol: 'http:' }],
    ['with https in place of http', { protocol: 'https:' }],
    ['with the host that the request names', { host: named }],
    ['without its port', { host: base.hostname }],
    ['without the slash at its end', { path: path.replace(/\/$/, '') }],
    ['with a slash at its end', { path: `${path}/` }],
    ['with the path that was asked for', { path: asked }],
    ['without the query that came', { target: asked }],
    ['with https, and the host and path that were called', { protocol: 'https:', host: named, path: asked }],
  ]
  return changes.map(([message, change]) => {
    const { protocol, host, ...address } = { ...configured, ...change }
    return { message, publicUrl: `${protocol}//${host}${address.path}`, target: address.target }
  })
}

type Rewrite = (text: string) => string | Buffer | undefined

/**
 * Yields forms in which a sender may have signed a body that was written again on its way. Each is made when it is
 * needed.
 */
function* bodies(text: string): Iterable<readonly [message: string, rawBody: Buffer]> {
  for (const [message, rewrite] of encodings) {
    const form = rewrite(text)
    if (form !== undefined) yield [message, Buffer.from(form as string)]
  }
  for (const [layout, write] of layoutsOf(text)) {
    const laidOut = write()
    for (const [slash, writeSlashes] of slashes) {
      for (const [character, writeCharacters] of characters) {
        const message = [layout, slash, character].filter(Boolean).join(', ')
        yield [`written ${message}`, Buffer.from(writeCharacters(writeSlashes(laidOut)))]
      }
    }
  }
}

/** Each returns undefined where the text has no such form. */
const encodings: Choices<Rewrite> = [
  ['without the line break at its end', (text) => text.replace(/\r?\n$/, '')],
  ['with a line break at its end', (text) => `${text}\n`],
  ['without the byte order mark at its beginning', (text) => text.replace(/^\ufeff/, '')],
  ['with LF in place of CRLF', (text) => text.replaceAll('\r\n', '\n')],
  ['as a form, in its field `payload`', (text) => `${new URLSearchParams({ payload: text })}`],
  ['unwrapped from the field `payload` of its form', (text) => fieldsIn(text)?.get('payload') ?? undefined],
  ['as a form written again, with + for blanks', (text) => fieldsIn(text)?.toString()],
  ['in UTF-8 once: it was encoded twice', (text) => Buffer.from(text, 'latin1')],
  [
    'decoded from base64',
    (text) => (/^[\w+/-]{8,}={0,2}\s*$/.test(text) ? Buffer.from(text, 'base64') : undefined),
  ],
]

/** The platform takes its time over a long form. */
function fieldsIn(text: string): URLSearchParams | undefined {
  return text.length < 256 * 1024 && /^[\w.-]{1,64}=/.test(text) ? new URLSearchParams(text) : undefined
}

/** Returns nothing for a text that is no JSON, or nests too deeply to be written again. */
function layoutsOf(text: string): Choices<() => string> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''))
    const compact = JSON.stringify(value)
    return [
      ['', () => text],
      ['as compact JSON', () => compact],
      ['with two-space indentation', () => JSON.stringify(value, null, 2)],
    ]
  } catch {
    return []
  }
}

const units = /\\(?:u[\da-fA-F]{4}|[\s\S])/g

const slashes: Choices<(text: string) => string> = [
  ['', (text) => text],
  ['with `\\/`', (text) => text.replace(/\\[\s\S]|\//g, (unit) => (unit === '/' ? '\\/' : unit))],
  ['with `/` in place of `\\/`', (text) => text.replace(units, (unit) => (unit === '\\/' ? '/' : unit))],
]

const characters: Choices<(text: string) => string> = [
  ['', (text) => text],
  ['with \\uXXXX for what is not ASCII', (text) => text.replace(/[\u0080-\uffff]/g, escaped)],
  ['with characters in place of \\uXXXX', (text) => text.replace(units, unescaped)],
  ['with \\uXXXX for `<`, `>` and `&`', (text) => text.replace(/[<>&]/g, escaped)],
]

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function unescaped(unit: string): string {
  const code = unit.length === 6 ? Number.parseInt(unit.slice(2), 16) : 0
  return code >= 0x80 || '<>&'.includes(String.fromCharCode(code)) ? String.fromCharCode(code) : unit
}
