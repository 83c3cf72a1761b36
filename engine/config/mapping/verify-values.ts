/** Checks how the values of a `verify` are written: secrets, public keys, topics, accounts and origins. No finding shows one. */

import { readPublicKey } from '../../providers/public-keys.ts'
import type { ProviderRow, Scheme } from '../../providers/scheme.ts'
import { readKey, secretsFor } from '../../providers/secrets.ts'
import type { Finding } from '../diagnostic/diagnostic.ts'
import { tokensAt } from '../rules/token-rules.ts'
import type { VerifyPolicy } from '../schema/policy-schema.ts'
import type { PolicyRules, WrittenKey } from './endpoint-policies.ts'

/** The rules for the keys that the provider reads. */
export function* verifyValueRules(row: ProviderRow, verify: VerifyPolicy): PolicyRules {
  for (const scheme of row.schemes) {
    if (scheme.family === 'hmac' && verify.secret !== undefined)
      yield [['verify', 'secret'], (at) => malformedSecrets(at, scheme, verify.secret)]
    if ((scheme.family === 'ed25519' || scheme.family === 'ecdsa') && verify.publicKey !== undefined)
      yield [['verify', 'publicKey'], (at) => malformedKeys(at, scheme, verify.publicKey)]
    if (scheme.family === 'sns' && verify.topicArns)
      yield [
        ['verify', 'topicArns'],
        each(
          verify.topicArns,
          topicArn,
          'the ARN of a topic',
          'It looks like arn:aws:sns:eu-central-1:123456789012:alerts.',
        ),
      ]
    if (scheme.family === 'oidc' && verify.serviceAccount)
      yield [
        ['verify', 'serviceAccount'],
        each(
          verify.serviceAccount,
          account,
          'the e-mail address of an account',
          'It looks like push@project.iam.gserviceaccount.com.',
        ),
      ]
  }
  if (row.handshake === 'cloudevents' && verify.allowedOrigins)
    yield [
      ['verify', 'allowedOrigins'],
      each(
        verify.allowedOrigins,
        origin,
        'the name of a sender',
        'It is a host name, without https:// and without a path.',
      ),
    ]
}

const topicArn = /^arn:aws[a-z-]{0,20}:sns:[a-z0-9-]{1,40}:\d{12}:[\w-]{1,256}(\.fifo)?$/
const account = /^[^\s@]{1,256}@[^\s@]{1,256}$/
const origin = /^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$/

function each(
  texts: string | readonly string[],
  pattern: RegExp,
  expected: string,
  hint: string,
): (at: WrittenKey) => Iterable<Finding> {
  return function* ({ path, name }) {
    for (const { path: at, token: text } of tokensAt(path, texts)) {
      if (isBlank(text) || pattern.test(text)) continue
      yield { path: at, code: 'INVALID_VALUE', message: `${name} must be ${expected}`, hint }
    }
  }
}

const writtenAs = {
  whsec: 'base64, with or without `whsec_` before it',
  base64: 'base64, as `hmac.key` says',
  hex: 'hex, as `hmac.key` says',
  text: 'text',
} as const

function* malformedSecrets(
  { path, name }: WrittenKey,
  scheme: Extract<Scheme, { family: 'hmac' }>,
  secrets: VerifyPolicy['secret'],
): Iterable<Finding> {
  for (const { path: at, token: secret } of tokensAt(path, secrets)) {
    if (!secretsFor(scheme, secret).some(({ text }) => readKey(text, scheme.key) === undefined)) continue
    const hint = secret.startsWith('whpk_')
      ? 'What begins with `whpk_` is a public key: write it as `publicKey`.'
      : 'Copy it once more from the provider, whole.'
    yield { path: at, code: 'INVALID_VALUE', message: `${name} must be ${writtenAs[scheme.key]}`, hint }
  }
}

function* malformedKeys(
  { path, name }: WrittenKey,
  scheme: Extract<Scheme, { family: 'ed25519' | 'ecdsa' }>,
  keys: VerifyPolicy['publicKey'],
): Iterable<Finding> {
  for (const { path: at, token: key } of tokensAt(path, keys)) {
    if (isBlank(key) || readPublicKey(key, scheme) !== undefined) continue
    const hint = key.includes('-----')
      ? 'Leave out the lines that begin with dashes, and the line breaks.'
      : 'Copy it once more from the provider, whole.'
    yield { path: at, code: 'INVALID_VALUE', message: `${name} must be ${keyWrittenAs(scheme)}`, hint }
  }
}

function keyWrittenAs(scheme: Extract<Scheme, { family: 'ed25519' | 'ecdsa' }>): string {
  if (scheme.family === 'ecdsa') return 'a public key on P-256: base64 of its DER'
  return scheme.key === 'hex' ? 'a public key of 32 bytes: 64 hex digits' : '`whpk_` and 32 bytes in base64'
}

/** A value that is blank counts as absent. */
export function isBlank(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '')
}
