/** Owns what is tried when a signature does not fit: one change at a time, the likelier ones first. */

import type { HmacScheme, ProviderRow, Scheme } from '../../providers/scheme.ts'
import { secretsOf } from '../../providers/secrets.ts'
import type { VerifyPolicy } from '../../providers/verify-policy.ts'
import { createHmacVerifier } from '../families/hmac.ts'
import { headerOf } from '../header.ts'
import { createProvider } from '../provider.ts'
import { isInBody } from '../signed/signature-place.ts'
import type { SignatureFailure, SignedRequest, Verifier } from '../verifier.ts'
import { bodyForms } from './body-forms.ts'
import { type Finding, finding } from './diagnosis.ts'
import { signatureHeadersOf } from './places.ts'
import { publicKeyForms, secretForms } from './secret-forms.ts'
import { signatureForms } from './signature-forms.ts'
import { urlForms } from './url-forms.ts'

/** What would explain the request, should this verifier take this request. */
export interface Trial {
  readonly finding: Finding
  readonly verifier: Pick<Verifier, 'verify'> | undefined
  readonly request: SignedRequest
}

export interface Suspect {
  readonly request: SignedRequest
  /** The address, where whoever recorded the request says it. */
  readonly recordedUrl?: string
  readonly verify: VerifyPolicy
  readonly schemes: readonly Scheme[]
  /** The whole table. */
  readonly providers: readonly ProviderRow[]
  readonly others: readonly OtherPolicy[]
  /** Absent: there is nothing to verify with. */
  readonly verdict?: SignatureFailure
}

/** What somebody else is verified with. */
export interface OtherPolicy {
  /** As it is named to people: `endpoints.stripe.verify`. */
  readonly place: string
  readonly verify: VerifyPolicy
}

/** Of those configured, each list. */
const mostSecrets = 4
const mostOthers = 100

export function* trialsOf(suspect: Suspect): Iterable<Trial> {
  // Where there is no signature of the kind that is looked for, only somebody else's may fit.
  const isMissing = suspect.verdict === 'SIGNATURE_MISSING' || suspect.verdict === 'SIGNATURE_WEAKER'
  if (!isMissing) {
    yield* otherField(suspect)
    yield* secrets(suspect)
    yield* keyReadings(suspect)
  }
  yield* endpoints(suspect)
  yield* providers(suspect)
  if (isMissing) return
  yield* coverage(suspect)
  yield* urls(suspect)
  yield* signatures(suspect)
  yield* bodies(suspect)
}

function withPolicy(request: SignedRequest, verify: VerifyPolicy, found: Finding): Trial {
  return { finding: found, verifier: createProvider(verify).verifier, request }
}

function* otherField({ request, verify }: Suspect): Iterable<Trial> {
  const { secret, publicKey, verifyToken, ...rest } = verify
  for (const [field, other, swapped] of [
    ['secret', 'publicKey', { ...rest, publicKey: secret }],
    ['publicKey', 'secret', { ...rest, secret: publicKey }],
    ['verifyToken', 'secret', { ...rest, secret: verifyToken }],
  ] as const) {
    if (secretsOf(verify[field]).length === 0) continue
    const told = `it fits the text that stands under \`${field}\`, taken as \`${other}\``
    const advice = `See on the page of the sender which is which; what it signs with belongs under \`${other}\`.`
    yield withPolicy(request, swapped, finding('KEY_IN_OTHER_FIELD', told, advice))
  }
}

function* secrets({ request, verify }: Suspect): Iterable<Trial> {
  for (const [field, formsOf] of [
    ['secret', secretForms],
    ['publicKey', publicKeyForms],
  ] as const) {
    for (const { text: secret } of secretsOf(verify[field]).slice(0, mostSecrets)) {
      for (const { told, text } of formsOf(secret)) {
        const found = finding('SECRET_FORM', `it fits the configured ${wordFor[field]} ${told}`, secretAdvice)
        yield withPolicy(request, { ...verify, [field]: text }, found)
      }
    }
  }
}

const wordFor = { secret: 'secret', publicKey: 'public key' } as const
const secretAdvice = 'Copy it anew from the page of the sender: whole, and nothing else.'

const readings = {
  text: 'as it is written',
  whsec: 'decoded from base64, what follows `whsec_`',
  base64: 'decoded from base64',
  hex: 'decoded from hex',
} as const

/** The bytes of a secret may be no text, which only another reading of the key can tell. */
function* keyReadings({ request, verify, schemes }: Suspect): Iterable<Trial> {
  const bare = secretsOf(verify.secret).map(({ text }) => text.replace(/^whsec_/, ''))
  for (const scheme of schemes.filter(isHmac)) {
    for (const key of ['text', 'base64', 'whsec', 'hex'] as const) {
      if (key === scheme.key) continue
      const read = (verifier: Verifier | undefined, told: string): Trial => ({
        finding: finding('SECRET_FORM', `it fits the configured secret ${told}`, readingAdvice),
        verifier,
        request,
      })
      yield read(createHmacVerifier({ ...scheme, key }, verify), readings[key])
      if (key === 'text' && bare.length > 0) {
        const verifier = createHmacVerifier({ ...scheme, key }, { ...verify, secret: bare })
        yield read(verifier, 'as it is written, without `whsec_`')
      }
    }
  }
}

const readingAdvice =
  'The sender reads its secret in another way than this provider does: see whether `verify.provider` is the right one; `provider: hmac` lets you say how the key is read.'

const otherAdvice =
  'The sender was given that secret: put it here too, or have the sender call the other address.'
const tokenAdvice = 'A token that opens endpoints is no secret to sign with: give the sender one of its own.'

function* endpoints({ request, verify, others }: Suspect): Iterable<Trial> {
  for (const { place, verify: other } of others.slice(0, mostOthers)) {
    const { secret, publicKey } = other
    const told = `it fits the secret of ${place}`
    const advice = other.provider === undefined ? tokenAdvice : otherAdvice
    yield withPolicy(request, { ...verify, secret, publicKey }, finding('OTHER_ENDPOINT', told, advice))
    if (other.provider === undefined || other.provider === verify.provider) continue
    const whole = finding(
      'OTHER_ENDPOINT',
      `it fits ${place} as a whole: it is a request for that endpoint`,
      'Have the sender call the address of that endpoint.',
    )
    yield withPolicy(request, other, whole)
  }
}

function* providers({ request, verify, providers, verdict }: Suspect): Iterable<Trial> {
  for (const { name, title, schemes } of providers) {
    // The weaker signature of the right provider looks like that of one that has no other.
    if (verdict === 'SIGNATURE_WEAKER' && schemes.every((each) => isHmac(each) && each.hash === 'sha1'))
      continue
    // Those that sign with keys of their own fit no secret.
    if (name === verify.provider || schemes.every(({ family }) => family === 'oidc' || family === 'sns'))
      continue
    const found = finding(
      'OTHER_PROVIDER',
      `it fits this secret by the way of ${title}`,
      `Say \`provider: ${name}\`, if that is who sends to this endpoint.`,
    )
    yield withPolicy(request, { ...verify, provider: name }, found)
  }
}

/** What senders of one's own sign, who took after a provider and not in everything. */
const templates: Readonly<Record<string, string>> = {
  '{body}': 'the body alone',
  '{timestamp}{body}': 'the time and the body',
  '{timestamp}.{body}': 'the time, a dot and the body',
  '{timestamp}:{body}': 'the time, a colon and the body',
}

function* coverage({ request, verify, schemes }: Suspect): Iterable<Trial> {
  for (const scheme of schemes.filter(isHmac)) {
    for (const [signed, told] of Object.entries(templates)) {
      if (signed === scheme.signed || (signed.includes('{timestamp}') && !scheme.timestamp)) continue
      const found = finding(
        'SIGNED_FORM',
        `it covers ${told}, which is not what this provider signs`,
        'See whether `verify.provider` is the right one; `provider: hmac` lets you say what is signed.',
      )
      yield { finding: found, verifier: createHmacVerifier({ ...scheme, signed }, verify), request }
    }
  }
}

const urlAdvice =
  'Give `verify.publicUrl` the address exactly as it was given to the sender. The query is taken as it came: where that differs, something on the way changed it.'

function* urls({ request, verify, schemes, recordedUrl }: Suspect): Iterable<Trial> {
  if (!schemes.filter(isHmac).some(({ signed }) => signed.includes('{url}'))) return
  const hosts = ['x-forwarded-host', 'host'].map((name) => headerOf(request.headers, name) ?? '')
  const forms = urlForms({
    configured: verify.publicUrl,
    recorded: recordedUrl,
    target: request.target,
    hosts: [...new Set(hosts.filter((host) => /^[\w.:[\]-]{1,255}$/.test(host)))],
  })
  for (const { told, url } of forms) {
    const which = verify.publicUrl === undefined ? 'the address that was called' : 'the configured address'
    const found = finding('URL', `it fits ${which} ${told}`.trimEnd(), urlAdvice)
    const [address = '', query] = url.split('?', 2)
    const target = `${request.target.split('?', 1)[0]}${query === undefined ? '' : `?${query}`}`
    yield withPolicy({ ...request, target }, { ...verify, publicUrl: address }, found)
  }
}

function* signatures({ request, verify, schemes }: Suspect): Iterable<Trial> {
  for (const scheme of schemes.filter(isHmac)) {
    const { signature, encoding } = scheme
    if (isInBody(signature)) continue
    for (const name of signatureHeadersOf(scheme)) {
      const value = headerOf(request.headers, name)
      if (value === undefined) continue
      for (const form of signatureForms(value, signature, encoding)) {
        const found = finding(
          'SIGNATURE_FORM',
          `the digest is right: it fits once ${form.told}`,
          'The sender writes it in another way than this provider does: see whether `verify.provider` is the right one; `provider: hmac` lets you say how it is written.',
        )
        yield withPolicy({ ...request, headers: { ...request.headers, [name]: form.value } }, verify, found)
      }
    }
  }
}

function* bodies({ request, verify }: Suspect): Iterable<Trial> {
  const verifier = createProvider(verify).verifier
  for (const { told, bytes } of bodyForms(request.rawBody, headerOf(request.headers, 'content-type'))) {
    const found = finding(
      'BODY_FORM',
      `it fits the body ${told}: something between the sender and the gateway rewrote it`,
      'A signature is made over bytes: have the proxy, function or recorder in between pass the body on as it came.',
    )
    yield { finding: found, verifier, request: { ...request, rawBody: bytes } }
  }
}

function isHmac(scheme: Scheme): scheme is HmacScheme {
  return scheme.family === 'hmac'
}
