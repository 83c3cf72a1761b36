/** Lists the changes that are tried when a signature does not match, one at a time: another secret, another address, another body. */

import type { VerifyPolicy } from '../../providers/verify-policy.ts'
import { headerOf } from '../header.ts'
import { createProvider } from '../provider.ts'
import type { SignedRequest, Verifier } from '../verifier.ts'
import { bodyForms } from './body-forms.ts'
import { type Finding, finding } from './diagnosis.ts'

/** A finding that explains the request if this verifier accepts this request. */
export interface Change {
  readonly finding: Finding
  readonly verifier: Verifier | undefined
  readonly request: SignedRequest
}

export interface ChangeOptions {
  readonly request: SignedRequest
  readonly verify: VerifyPolicy
  readonly signsUrl: boolean
  readonly others: readonly OtherPolicy[]
}

/** What another endpoint is verified with, or the tokens of the gateway. */
export interface OtherPolicy {
  /** Its place as people name it: `endpoints.stripe.verify`. */
  readonly place: string
  readonly verify: VerifyPolicy
}

/** The likelier changes come first. */
export function* changesOf(options: ChangeOptions): Iterable<Change> {
  yield* otherSecrets(options)
  if (options.signsUrl) yield* otherAddresses(options)
  yield* otherBodies(options)
}

const mostOthers = 100
const otherAdvice =
  'The sender was given that secret: put it here too, or have the sender call the other address.'
const tokenAdvice = 'A token that opens endpoints is no secret to sign with: give the sender one of its own.'

function* otherSecrets({ request, verify, others }: ChangeOptions): Iterable<Change> {
  for (const { place, verify: other } of others.slice(0, mostOthers)) {
    const { secret, publicKey } = other
    const advice = other.provider === undefined ? tokenAdvice : otherAdvice
    yield {
      finding: finding('OTHER_ENDPOINT', `it fits the secret of ${place}`, advice),
      verifier: createProvider({ ...verify, secret, publicKey }).verifier,
      request,
    }
  }
}

const urlAdvice =
  'Give `verify.publicUrl` the address exactly as it was given to the sender. The query is taken as it came: where that differs, something on the way changed it.'

function* otherAddresses({ request, verify }: ChangeOptions): Iterable<Change> {
  const [path = '', query] = request.target.split('?', 2)
  for (const { told, url, keepsQuery } of addresses(request, verify.publicUrl, path)) {
    const which = verify.publicUrl === undefined ? 'the address that was called' : 'the configured address'
    const target = query === undefined || !keepsQuery ? path : request.target
    yield {
      finding: finding('URL', `it fits ${which} ${told}`.trimEnd(), urlAdvice),
      verifier: createProvider({ ...verify, publicUrl: url }).verifier,
      request: { ...request, target },
    }
  }
}

interface Address {
  /** Completes the sentence "it fits the configured address …". */
  readonly told: string
  readonly url: string
  readonly keepsQuery: boolean
}

type Choice = readonly [told: string, text: string]

/** Addresses that differ from the configured one in scheme, host, path or query; those with the fewest differences first. */
function addresses(
  { headers }: SignedRequest,
  configured: string | undefined,
  asked: string,
): readonly Address[] {
  const named = ['x-forwarded-host', 'host']
    .map((name) => headerOf(headers, name) ?? '')
    .filter((host) => /^[\w.:[\]-]{1,255}$/.test(host))
  const base = /^(https?):\/\/([^/?#@\s]{1,255})([^?#]*)/i.exec(
    configured ?? `https://${named[0] ?? ''}${asked}`,
  )
  if (base === null) return []
  const [, scheme = '', host = '', configuredPath = ''] = base
  const path = configuredPath || asked
  const other = scheme.toLowerCase() === 'https' ? 'http' : 'https'
  const toggled: Choice = path.endsWith('/')
    ? ['without the slash at its end', path.replace(/\/$/, '')]
    : ['with a slash at its end', `${path}/`]
  const schemes: Choice[] = [
    ['', scheme],
    [`with ${other} in place of ${scheme}`, other],
  ]
  const hosts: Choice[] = [
    ['', host],
    ...named.map((name): Choice => ['with the host that the request names', name]),
    ['without its port', host.replace(/:\d+$/, '')],
  ]
  const paths: Choice[] = [['', path], toggled, ['with the path that was asked for', asked]]
  const queries: Choice[] = [
    ['', 'kept'],
    ['without the query that came', ''],
  ]
  return schemes
    .flatMap((s) => hosts.flatMap((h) => paths.flatMap((p) => queries.map((q) => [s, h, p, q] as const))))
    .map((parts) => ({ parts, told: parts.map(([told]) => told).filter(Boolean) }))
    .sort((a, b) => a.told.length - b.told.length)
    .map(({ parts: [s, h, p, q], told }) => ({
      told: told.join(', '),
      url: `${s[1]}://${h[1]}${p[1]}`,
      keepsQuery: q[1] !== '',
    }))
}

function* otherBodies({ request, verify }: ChangeOptions): Iterable<Change> {
  const { verifier } = createProvider(verify)
  for (const { told, bytes } of bodyForms(request.rawBody)) {
    const found = finding(
      'BODY_FORM',
      `it fits the body ${told}: something between the sender and the gateway rewrote it`,
      'A signature is made over bytes: have the proxy, function or recorder in between pass the body on as it came.',
    )
    yield { finding: found, verifier, request: { ...request, rawBody: bytes } }
  }
}
