/** Finds mistakes in a merged `verify`: its provider, and the keys that this needs and reads. No finding shows a secret. */

import { providerNames } from '../../providers/index.ts'
import { readPublicKey } from '../../providers/public-keys.ts'
import type { ProviderRow, Scheme } from '../../providers/scheme.ts'
import { readKey, secretsFor, secretsOf } from '../../providers/secrets.ts'
import { type Finding, noEffect } from '../file/diagnostic.ts'
import type { EndpointPolicy, VerifyPolicy } from '../schema/policy-schema.ts'
import { didYouMean } from '../values/nearest.ts'
import type { Path } from '../values/path.ts'
import type { PolicyOrigin } from './endpoint-policies.ts'
import { challengeRules, hmacRules } from './hmac-rules.ts'
import {
  hasMaterial,
  isSupplied,
  keysReadBy,
  rowOf,
  shortTitleOf,
  signsUrl,
  type VerifyKey,
} from './material.ts'
import { tokensAt } from './token-rules.ts'

/**
 * Returns the kind of file that sets a key. Presets name a provider before there is a secret, and mapping files may be
 * copies of presets.
 */
type OriginOf = (path: Path) => PolicyOrigin | undefined

export function* verifyRules(policy: EndpointPolicy, originOf: OriginOf): Iterable<Finding> {
  const { auth, verify } = policy
  if ((auth === 'signature' || auth === 'both') && !isVerifiable(verify))
    yield nothingToVerifyWith(auth, verify)
  if (verify === undefined) return
  const { provider, hmac, challenge } = verify
  if (auth === 'none' && challenge?.method === 'POST' && challenge.issuesSecret !== true) yield unanswered
  if (challenge && (provider === undefined || provider === 'hmac')) yield* challengeRules(challenge, verify)
  if (provider === undefined) {
    if (!answersOnly(verify))
      yield missing(['verify'], 'provider', `Write \`provider:\` and a name: ${providerNames.join(', ')}.`)
    return
  }
  const row = rowOf(verify)
  if (row === undefined) {
    yield provider === 'hmac' ? withoutHmac : unknownProvider(provider)
    return
  }
  yield* unread(row, verify)
  yield* needs(row, verify, originOf)
  yield* verifyValueRules(row, verify)
  if (provider === 'hmac' && hmac) yield* hmacRules(hmac)
  if (auth === undefined) yield* notYet(row, verify, originOf)
}

/** A POST is answered as a challenge only where something shows that the sender sent it. */
const unanswered: Finding = {
  path: ['verify', 'challenge'],
  code: 'CHALLENGE_UNANSWERED',
  problem: 'is never answered: under `auth: none` every POST is an event',
  hint: 'Remove `auth: none`, so that the challenge comes with the token; or remove `challenge`.',
}

/** A sender that does not sign may still check that the address is the operator's. */
function answersOnly(verify: VerifyPolicy): boolean {
  return verify.provider === undefined && Object.keys(verify).every((key) => key === 'challenge')
}

/** Also true for a value with a mistake that another rule reports. */
function isVerifiable(verify: VerifyPolicy | undefined): boolean {
  return verify !== undefined && !answersOnly(verify) && (rowOf(verify) === undefined || hasMaterial(verify))
}

function nothingToVerifyWith(auth: string, verify?: VerifyPolicy): Finding {
  const at = { path: ['auth'], code: 'AUTH_UNVERIFIABLE' }
  const row = verify && rowOf(verify)
  if (row?.schemes.length === 0) {
    const problem = `is \`${auth}\`, and ${shortTitleOf(row)} signs nothing`
    return { ...at, problem, hint: 'Remove it: the endpoint then takes a token.' }
  }
  const hint =
    'Write `verify:` with the provider and what it is verified with; a secret that is empty counts as absent.'
  return { ...at, problem: `is \`${auth}\`, and there is nothing to verify a signature with`, hint }
}

/** A key of `verify` is missing, which one of the keys below it, or it by itself, asks for. */
function missing(path: Path, key: string, hint: string): Finding {
  const place = ['verify']
  return { path, place, named: [...place, key], at: 'key', code: 'MISSING_KEY', problem: 'is missing', hint }
}

const withoutHmac = missing(
  ['verify', 'provider'],
  'hmac',
  'Write `hmac:` with at least the `header` that the signature is in.',
)

/** The senders of docs/trust.md for which `hmac` and `challenge` suffice. */
const describedSenders = /^(dropbox|okta|x|twitter|trello|asana|twitch)$/i

function unknownProvider(provider: string): Finding {
  const providerList = `Known are ${providerNames.join(', ')}; \`hmac\` is for any other.`
  const hint = describedSenders.test(provider)
    ? 'It is set up with `hmac` and `challenge`: docs/trust.md has the lines for it.'
    : didYouMean(provider, providerNames, providerList)
  const problem = 'names a provider that is not known'
  return { path: ['verify', 'provider'], code: 'UNKNOWN_PROVIDER', problem, hint }
}

function* unread(row: ProviderRow, verify: VerifyPolicy): Iterable<Finding> {
  const read = keysReadBy(row)
  const names = [...read].map((key) => `\`${key}\``).join(', ')
  const why = `${shortTitleOf(row)} ${names === '' ? 'signs nothing' : `reads ${names}`}`
  for (const key of Object.keys(verify) as VerifyKey[]) {
    if (key === 'provider' || read.has(key) || isBlank(verify[key])) continue
    const isOfHmac = key === 'hmac' || key === 'challenge'
    const hint = isOfHmac ? 'Remove it, or write `provider: hmac` to have it read.' : undefined
    yield noEffect(['verify', key], why, hint)
  }
}

/**
 * Keys besides a secret are required once there is a secret. Without one, they are required if the operator names the
 * provider.
 */
function* needs(row: ProviderRow, verify: VerifyPolicy, originOf: OriginOf): Iterable<Finding> {
  const keyed = (['secret', 'publicKey'] as const).find((key) => secretsOf(verify[key]).length > 0)
  const read = keysReadBy(row)
  const title = shortTitleOf(row)
  if (keyed === 'secret' && !read.has('secret') && read.has('publicKey') && verify.publicKey === undefined) {
    const hint = `${title} shows its public key where the webhook is set up.`
    yield missing(['verify', keyed], 'publicKey', hint)
  }
  const signsAddress = row.schemes.some((each) => signsUrl(each) && isSupplied(each, verify))
  if (keyed && signsAddress && isBlank(verify.publicUrl)) {
    const hint = `Write the address that ${title} calls, as it was given to it: it is part of what is signed.`
    yield missing(['verify', keyed], 'publicUrl', hint)
  }
  const isOperators = (path: Path) => ['file', 'configuration'].includes(originOf(path) ?? '')
  const own = [...read, 'provider'].map((key) => ['verify', key]).find(isOperators)
  if (own === undefined) return
  // A webhook that is set up already is sent events all the same.
  if (keyed && row.handshake === 'meta' && isBlank(verify.verifyToken))
    yield {
      ...missing(own, 'verifyToken', makeVerifyToken),
      severity: 'warning',
      code: 'HANDSHAKE_UNANSWERED',
      problem: 'is missing: Meta gets no answer when it checks the address',
    }
  for (const { family } of row.schemes) {
    if (family === 'sns' && verify.topicArns === undefined) yield missing(own, 'topicArns', nameTopics)
    if (family !== 'oidc') continue
    if (verify.serviceAccount === undefined) yield missing(own, 'serviceAccount', nameAccount)
    if (verify.audience === undefined && verify.publicUrl === undefined)
      yield missing(own, 'audience', nameAudience)
  }
}

const makeVerifyToken =
  'Make one with `openssl rand -hex 24`, write it here, and give it to Meta where the webhook is set up.'
const nameTopics = 'Write the topics that are believed: everybody on AWS can have SNS send to this address.'
const nameAccount =
  'Write the address of the account that pushes: everybody on Google Cloud can get a token for this address.'
const nameAudience =
  'Write the audience of the subscription; where it has none, `publicUrl` with the address that it pushes to.'

/** An empty secret counts as absent in a preset and in a copy of one. In the configuration it is intended. */
function* notYet(row: ProviderRow, verify: VerifyPolicy, originOf: OriginOf): Iterable<Finding> {
  if (hasMaterial(verify)) return
  for (const key of ['secret', 'publicKey'] as const) {
    const path = ['verify', key]
    if (!keysReadBy(row).has(key) || originOf(path) !== 'configuration') continue
    const problem =
      'is empty: until it is set, the endpoint is opened by a token, unless `auth` says otherwise'
    const hint = `Set what ${shortTitleOf(row)} shows; with \`auth: signature\` a gateway does not start without it.`
    yield { path, severity: 'warning', at: 'key', code: 'VERIFY_NOT_YET', problem, hint }
  }
}

/** Returns the rules for the keys that the provider reads. */
function* verifyValueRules({ schemes }: ProviderRow, verify: VerifyPolicy): Iterable<Finding> {
  for (const scheme of schemes) {
    if (scheme.family === 'hmac')
      yield* malformed('secret', verify.secret, writtenAs[scheme.key], (secret) => {
        if (secretsFor(scheme, secret).every(({ text }) => readKey(text, scheme.key) !== undefined))
          return undefined
        const isPublic = secret.startsWith('whpk_')
        return isPublic
          ? 'A value that begins with `whpk_` is a public key: write it as `publicKey`.'
          : copyAgain
      })
    if (scheme.family === 'ed25519' || scheme.family === 'ecdsa')
      yield* malformed('publicKey', verify.publicKey, keyWrittenAs(scheme), (key) => {
        if (isBlank(key) || readPublicKey(key, scheme) !== undefined) return undefined
        const isArmoured = key.includes('-----')
        return isArmoured ? 'Leave out the lines that begin with dashes, and the line breaks.' : copyAgain
      })
  }
}

const copyAgain = 'Copy it again from the provider, whole.'

const writtenAs = {
  whsec: 'base64, with or without `whsec_` before it',
  base64: 'base64, as `hmac.key` says',
  hex: 'hex, as `hmac.key` says',
  text: 'a string',
} as const

/** `adviceFor` returns the fix of a value with which nothing could be verified. */
function* malformed(
  key: 'secret' | 'publicKey',
  values: VerifyPolicy['secret'],
  expected: string,
  adviceFor: (value: string) => string | undefined,
): Iterable<Finding> {
  const path = ['verify', key]
  for (const { path: place, token } of tokensAt(path, values)) {
    const hint = adviceFor(token)
    if (hint) yield { path, place, code: 'INVALID_VALUE', problem: `must be ${expected}`, hint }
  }
}

function keyWrittenAs(scheme: Extract<Scheme, { family: 'ed25519' | 'ecdsa' }>): string {
  if (scheme.family === 'ecdsa') return 'a public key on P-256: base64 of its DER'
  return scheme.key === 'hex' ? 'a public key of 32 bytes: 64 hex digits' : '`whpk_` and 32 bytes in base64'
}

/** A blank value counts as absent. */
export function isBlank(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '')
}
