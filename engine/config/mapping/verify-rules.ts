/** Finds what is wrong with a `verify` once it is joined: what its provider is, needs and reads. No finding shows a secret. */

import { providerNames } from '../../providers/index.ts'
import type { ProviderRow } from '../../providers/scheme.ts'
import { secretsOf } from '../../providers/secrets.ts'
import type { EndpointPolicy } from '../configuration.ts'
import type { Finding } from '../diagnostic/diagnostic.ts'
import { nearestName } from '../nearest.ts'
import { type Path, writePath } from '../path.ts'
import type { VerifyPolicy } from '../schema/policy-schema.ts'
import {
  hasMaterial,
  isSupplied,
  keysReadBy,
  rowOf,
  shortTitleOf,
  signsUrl,
  type VerifyKey,
} from '../verification/material.ts'
import { challengeRules } from './challenge-rules.ts'
import type { PolicyOrigin, PolicyRules, WrittenKey } from './endpoint-policies.ts'
import { hmacRules } from './hmac-rules.ts'
import { isBlank, verifyValueRules } from './verify-values.ts'

/**
 * Answers which kind of file says what holds for a key. Presets name a provider before there is anything to verify with, and
 * mapping files are copies of presets.
 */
type OriginOf = (keys: Path) => PolicyOrigin | undefined

export function* verifyRules(policy: EndpointPolicy, originOf: OriginOf): PolicyRules {
  const { auth, verify } = policy
  if ((auth === 'signature' || auth === 'both') && !isVerifiable(verify))
    yield [['auth'], (at) => nothingToVerifyWith(at, auth, verify)]
  if (verify === undefined) return
  const { provider, hmac, challenge } = verify
  if (challenge && (provider === undefined || provider === 'hmac')) yield* challengeRules(challenge, verify)
  if (provider === undefined) {
    if (answersOnly(verify)) return
    yield [['verify'], missing('provider', `Write \`provider:\` and a name: ${providerNames.join(', ')}.`)]
    return
  }
  const row = rowOf(verify)
  if (row === undefined) {
    yield [['verify', 'provider'], provider === 'hmac' ? withoutHmac : (at) => unknownProvider(at, provider)]
    return
  }
  yield* unread(row, verify)
  yield* needs(row, verify, originOf)
  yield* verifyValueRules(row, verify)
  if (provider === 'hmac' && hmac) yield* hmacRules(hmac)
  if (auth === undefined) yield* notYet(row, verify, originOf)
}

/** A sender that does not sign may still ask whether the address is the operator's. */
function answersOnly(verify: VerifyPolicy): boolean {
  return verify.provider === undefined && Object.keys(verify).every((key) => key === 'challenge')
}

/** True also for one that is wrong in a way which another rule reports. */
function isVerifiable(verify: VerifyPolicy | undefined): boolean {
  return verify !== undefined && !answersOnly(verify) && (rowOf(verify) === undefined || hasMaterial(verify))
}

function* nothingToVerifyWith(
  { path, name }: WrittenKey,
  auth: string,
  verify?: VerifyPolicy,
): Iterable<Finding> {
  const row = verify && rowOf(verify)
  const unsigned = row?.schemes.length === 0
  yield {
    path,
    code: 'AUTH_UNVERIFIABLE',
    message: unsigned
      ? `${name} is \`${auth}\`, and ${shortTitleOf(row)} signs nothing`
      : `${name} is \`${auth}\`, and there is nothing to verify a signature with`,
    hint: unsigned
      ? 'Remove it: the endpoint then takes a token.'
      : 'Write `verify:` with the provider and what it is verified with; a secret that is empty counts as absent.',
  }
}

/** Of `verify`, by any of the keys below it or by itself. */
function missing(key: string, hint: string): (at: WrittenKey) => Iterable<Finding> {
  return function* ({ path }) {
    const owner = path.slice(0, path.lastIndexOf('verify') + 1)
    const message = `\`${writePath([...owner, key])}\` is missing`
    yield { path: owner, at: 'key', code: 'MISSING_KEY', message, hint }
  }
}

const withoutHmac = missing('hmac', 'Write `hmac:` with at least the `header` that the signature stands in.')

/** Those of docs/trust.md that `hmac` and `challenge` are enough for. */
const describedSenders: ReadonlySet<string> = new Set([
  'dropbox',
  'okta',
  'x',
  'twitter',
  'trello',
  'asana',
  'twitch',
])

function* unknownProvider({ path, name }: WrittenKey, provider: string): Iterable<Finding> {
  yield {
    path,
    code: 'UNKNOWN_PROVIDER',
    message: `${name} names a provider that is not known`,
    hint: insteadOfProvider(provider),
  }
}

function insteadOfProvider(provider: string): string {
  if (describedSenders.has(provider.toLowerCase()))
    return 'It is set up with `hmac` and `challenge`: docs/trust.md has the lines for it.'
  const nearest = nearestName(provider, providerNames)
  return nearest
    ? `Did you mean \`${nearest}\`?`
    : `Known are ${providerNames.join(', ')}; \`hmac\` is for any other.`
}

function* unread(row: ProviderRow, verify: VerifyPolicy): PolicyRules {
  const read = keysReadBy(row)
  for (const key of Object.keys(verify) as VerifyKey[]) {
    if (key === 'provider' || read.has(key) || isBlank(verify[key])) continue
    yield [['verify', key], (at) => unused(at, row, key)]
  }
}

function* unused({ path, name }: WrittenKey, row: ProviderRow, key: VerifyKey): Iterable<Finding> {
  const message = `${name} has no effect: ${whyUnread(row, key)}`
  yield { severity: 'warning', path, at: 'key', code: 'UNUSED_FIELD', message, hint: insteadOf(row, key) }
}

function whyUnread(row: ProviderRow, key: VerifyKey): string {
  const title = shortTitleOf(row)
  if (row.schemes.length === 0) return `${title} signs nothing`
  if (key === 'tolerance') return `a signature of ${title} bears no time that could be looked at`
  if (key === 'publicUrl') return `the address is not signed by ${title}`
  if (key === 'secret') return `there is no secret that ${title} would share`
  return `it is not for ${title}`
}

function insteadOf(row: ProviderRow, key: VerifyKey): string {
  const read = keysReadBy(row)
  if (key === 'secret' && read.has('publicKey')) return 'Write its public key as `publicKey` instead.'
  if (key === 'publicKey' && read.has('secret')) return 'Write its secret as `secret` instead.'
  if (key === 'hmac' || key === 'challenge') return 'Remove it, or write `provider: hmac` to have it read.'
  return 'Remove it.'
}

/** What is needed besides a secret is asked for once there is one. Where there is none, once the operator names the provider. */
function* needs(row: ProviderRow, verify: VerifyPolicy, originOf: OriginOf): PolicyRules {
  const keyed = (['secret', 'publicKey'] as const).find((key) => secretsOf(verify[key]).length > 0)
  const read = keysReadBy(row)
  if (keyed === 'secret' && !read.has('secret') && read.has('publicKey') && verify.publicKey === undefined)
    yield [
      ['verify', keyed],
      missing('publicKey', `${shortTitleOf(row)} shows its public key where the webhook is set up.`),
    ]
  if (
    keyed &&
    isBlank(verify.publicUrl) &&
    row.schemes.some((each) => signsUrl(each) && isSupplied(each, verify))
  ) {
    const hint = `Write the address that ${shortTitleOf(row)} calls, as it was given to it: it is part of what is signed.`
    yield [['verify', keyed], missing('publicUrl', hint)]
  }
  const isOwn = (keys: Path) => isOperators(originOf(keys))
  const own = [...read, 'provider'].map((key) => ['verify', key]).find(isOwn)
  if (own === undefined) return
  if (keyed && row.handshake === 'meta' && isBlank(verify.verifyToken)) yield [own, unansweredMeta]
  for (const { family } of row.schemes) {
    if (family === 'sns' && verify.topicArns === undefined)
      yield [
        own,
        missing(
          'topicArns',
          'Write the topics that are believed: everybody on AWS can have SNS send to this address.',
        ),
      ]
    if (family === 'oidc') yield* needsOfOidc(own, verify)
  }
}

/** Whose webhook is set up already is sent events all the same. */
function* unansweredMeta({ path }: WrittenKey): Iterable<Finding> {
  const owner = path.slice(0, path.lastIndexOf('verify') + 1)
  const name = `\`${writePath([...owner, 'verifyToken'])}\``
  yield {
    severity: 'warning',
    path: owner,
    at: 'key',
    code: 'HANDSHAKE_UNANSWERED',
    message: `${name} is missing: Meta is not answered when it asks whether somebody is there`,
    hint: 'Make one with `openssl rand -hex 24`, write it here, and give it to Meta where the webhook is set up.',
  }
}

function isOperators(origin: PolicyOrigin | undefined): boolean {
  return origin === 'file' || origin === 'configuration'
}

function* needsOfOidc(keys: Path, { audience, publicUrl, serviceAccount }: VerifyPolicy): PolicyRules {
  if (serviceAccount === undefined)
    yield [
      keys,
      missing(
        'serviceAccount',
        'Write the address of the account that pushes: everybody on Google Cloud can get a token for this address.',
      ),
    ]
  if (audience === undefined && publicUrl === undefined)
    yield [
      keys,
      missing(
        'audience',
        'Write the audience of the subscription; where it has none, `publicUrl` with the address that it pushes to.',
      ),
    ]
}

/** An empty secret counts as absent in a preset and in a copy of one; in the configuration it is meant. */
function* notYet(row: ProviderRow, verify: VerifyPolicy, originOf: OriginOf): PolicyRules {
  if (hasMaterial(verify)) return
  for (const key of ['secret', 'publicKey'] as const) {
    const keys = ['verify', key]
    if (!keysReadBy(row).has(key) || originOf(keys) !== 'configuration') continue
    yield [keys, (at) => warnOfNoSecret(at, row)]
  }
}

function* warnOfNoSecret({ path, name }: WrittenKey, row: ProviderRow): Iterable<Finding> {
  yield {
    severity: 'warning',
    path,
    at: 'key',
    code: 'VERIFY_NOT_YET',
    message: `${name} is empty: until it is set, no signature is looked at; a token opens the endpoint, unless \`auth\` says otherwise`,
    hint: `Set what ${shortTitleOf(row)} shows; with \`auth: signature\` a gateway does not start without it.`,
  }
}
