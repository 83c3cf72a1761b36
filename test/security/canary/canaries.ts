/** Owns the canaries: texts that stand in one place each, so that wherever one turns up it says where it came from. */

export type Canaries = Readonly<Record<string, string>>

const canary = (name: string, index: number) => `canary-${name}-${(0x5eed * (index + 7)).toString(36)}`
const canaries = <Name extends string>(...names: readonly Name[]) =>
  Object.fromEntries(names.map((name, index) => [name, canary(name, index)])) as Readonly<
    Record<Name, string>
  >

/** What the operator keeps secret: nothing that the gateway says or writes may hold it, but for what is said at its place. */
export const configured = canaries(
  'gateway-token',
  'hook-token',
  'old-hook-token',
  'endpoint-token',
  'github-secret',
  'stripe-secret',
  'meta-secret',
  'meta-verify-token',
  'twilio-secret',
  'public-url-query',
  'hmac-secret',
  'gitlab-token',
  'channel-key',
  'runner-key',
  'provider-key',
  'file-target',
  'unused-variable',
)

/** Of those, what stands in the configuration as it is: the archive of generations keeps the files as they are. */
export const literal: readonly (keyof typeof configured)[] = [
  'old-hook-token',
  'runner-key',
  'public-url-query',
]

/** What a sender says who it is by; kept nowhere. */
export const credentials = canaries(
  'wrong-token',
  'basic',
  'query-token',
  'cookie',
  'proxy-authorization',
  'foreign-token',
)

/** What else stands in a request's head. Kept with the body so that it can be tried again, and told to nobody. */
export const heads = canaries('header', 'signature', 'query-note', 'query-name', 'user-agent', 'delivery')

/** What stands in a body; a mapping may put it into a message, and then the message is shown to the operator. */
export const bodies = {
  ...canaries('text', 'key', 'hidden', 'form', 'nested', 'malformed'),
  number: '918273645918273',
}

/** The names of those that a text shows, in any of the forms that an encoding gives them. */
export function found(text: string, among: Canaries): string[] {
  return Object.entries(among)
    .filter(([, value]) => formsOf(value).some((form) => text.includes(form)))
    .map(([name]) => name)
}

const known = new Map<string, readonly string[]>()

function formsOf(value: string): readonly string[] {
  const forms = known.get(value) ?? [value, ...base64Of(value), Buffer.from(value).toString('hex')]
  known.set(value, forms)
  return forms
}

/** Wherever it begins in what was encoded: the characters that hold bits of its neighbours are left out. */
function base64Of(value: string): string[] {
  return [0, 1, 2].map((shift) => {
    const text = Buffer.from('\0'.repeat(shift) + value).toString('base64')
    return text.slice(shift === 0 ? 0 : shift + 1, Math.floor(((shift + value.length) * 8) / 6))
  })
}
