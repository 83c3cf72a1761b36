/** Lists the canaries. Each text is in one place, so that its name says where it leaked. */

export type Canaries = Readonly<Record<string, string>>

const canary = (name: string, index: number) => `canary-${name}-${(0x5eed * (index + 7)).toString(36)}`
const canaries = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name, index) => [name, canary(name, index)])) as Record<Name, string>

/** The operator's secrets. No output may show them, except where noted. */
export const configured = {
  ...canaries(
    'gateway-token',
    'reader-token',
    'metrics-token',
    'hook-token',
    'old-hook-token',
    'endpoint-token',
  ),
  ...canaries('github-secret', 'stripe-secret', 'meta-secret', 'meta-verify-token', 'twilio-secret'),
  ...canaries(
    'public-url-query',
    'hmac-secret',
    'gitlab-token',
    'runner-key',
    'file-target',
    'unused-variable',
  ),
  /** Percent encoding and JSON change these. */
  'channel-key': 'canary-channel\\of "the" key/+1',
  'provider-key': 'canary-provider/key+of?the&operator=1',
}

/** A secret of the operator that senders send too, so that the store holds it where it holds a body. */
export const echoed = canaries('echoed-key')

/** Secrets that are in the configuration itself: the archive of generations stores these files unchanged. */
export const literal: readonly (keyof typeof configured)[] = [
  'old-hook-token',
  'runner-key',
  'public-url-query',
]

/** Credentials in a request, which are stored nowhere. */
export const credentials = {
  ...canaries('wrong-token', 'basic', 'query-token', 'cookie', 'proxy-authorization', 'foreign-token'),
}

/** Ids that senders gave their deliveries. Operators look for requests by them. */
export const ids = canaries('delivery-id')

/** Other headers of a request. They are stored with the body for a replay, and never shown. */
export const heads = canaries('header', 'signature', 'query-note', 'query-name', 'user-agent', 'delivery')

/** Texts in a body. A mapping may put one into a message, which the operator can then read. */
export const bodies = {
  ...canaries('text', 'key', 'hidden', 'form', 'nested', 'malformed'),
  number: '918273645918273',
}

/** Returns the names of the canaries that a text shows, in any encoding. */
export function found(text: string, among: Canaries): string[] {
  return Object.entries(among)
    .filter(([, value]) => formsOf(value).some((form) => text.includes(form)))
    .map(([name]) => name)
}

/** The encodings in which senders write a secret. Of base64 there is one for each of the three places in a group. */
export const encodings: Readonly<Record<string, (secret: string) => string>> = {
  raw: (secret) => secret,
  'upper case': (secret) => secret.toUpperCase(),
  'base64, first': (secret) => Buffer.from(`${secret}y`).toString('base64'),
  'base64, second': (secret) => Buffer.from(`x${secret}y`).toString('base64'),
  'base64, third': (secret) => Buffer.from(`xx${secret}y`).toString('base64'),
  base64url: (secret) => Buffer.from(`xx${secret}?`).toString('base64url'),
  hex: (secret) => Buffer.from(secret).toString('hex'),
  percent: (secret) => Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&'),
  'percent, reserved alone': encodeURIComponent,
  JSON: inJson,
}

const known = new Map<string, readonly string[]>()

function formsOf(value: string): readonly string[] {
  const forms = known.get(value) ?? [
    value,
    inJson(value),
    ...base64Of(value),
    Buffer.from(value).toString('hex'),
  ]
  known.set(value, forms)
  return forms
}

const partLength = 12

/**
 * Returns a search for any part of the secrets, in whatever encoding and case, that is long enough to recognise it by: its first or its
 * last twelve characters.
 */
export function searchFor(secrets: Canaries): (text: string) => string[] {
  const parts = new Map<string, string>()
  for (const [name, secret] of Object.entries(secrets)) {
    const base64 = base64Of(secret).flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
    const others = ['raw', 'hex', 'percent', 'percent, reserved alone'].map(
      (way) => encodings[way]?.(secret) ?? '',
    )
    for (const form of [...base64, ...others])
      for (const written of [form, inJson(form), inJson(inJson(form))])
        for (const part of [written.slice(0, partLength), written.slice(-partLength)])
          parts.set(part.toLowerCase(), `${name} as ${part}`)
  }
  return (text) => {
    const lower = text.toLowerCase()
    return Array.from(parts).flatMap(([part, what]) => (lower.includes(part) ? what : []))
  }
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Encodes a canary at each offset, without the characters that hold bits of its neighbours. */
function base64Of(value: string): string[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.from('\0'.repeat(shift) + value).toString('base64')
    return text.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + value.length) * 8) / 6))
  })
}
