/** Checks merged endpoint policies: who may send, with which secret, and what runs may cost. No finding shows a secret. */

import { backgroundMs, yieldIfDue } from '../../yield.ts'
import type { Findings } from '../file/diagnostics.ts'
import { findingOf, type KeyFault, noEffect } from '../file/key-fault.ts'
import type { CheckedFile } from '../schema/checked-file.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import type { EndpointPolicy, VerifyPolicy } from '../schema/policy-schema.ts'
import { isLoopback } from '../values/loopback.ts'
import { type Path, valueAt, writePath } from '../values/path.ts'
import { unpricedDefault } from './agent-rules.ts'
import { catchUpRules } from './catch-up-rules.ts'
import type { JoinedPolicies, WrittenPolicy } from './endpoint-policies.ts'
import { hasMaterial } from './material.ts'
import { openersOf, secretFaults, tokenFaults, tokenKeys, tokensAt } from './token-rules.ts'
import { verifyRules } from './verify-rules.ts'

/** The part of the configuration that the rules read. Invalid values are absent. */
interface RuleContext {
  readonly host?: string
  readonly hasProxies: boolean
  /** The key that sets a token, for tokens that open more than one endpoint. */
  readonly openers: ReadonlyMap<string, string>
}

export async function checkPolicies(
  { endpoints, writtenAbout }: JoinedPolicies,
  main: CheckedFile<ConfigurationValue>,
  findings: Findings,
): Promise<void> {
  const context = contextOf(main, findings)
  for (const [name, policy] of Object.entries(endpoints)) {
    await yieldIfDue(backgroundMs)
    const { auth, token, verify, budget, catchUp } = policy
    const written = writtenAbout(name)
    const giverOf = (keys: Path) => written.findLast(({ policy }) => valueAt(policy, keys) !== undefined)
    const faults = [
      ...verifyRules(policy, (keys) => giverOf(keys)?.from),
      ...(auth === 'none' ? checkOpen(context) : []),
      ...(token === undefined ? [] : checkTokens(policy, context)),
      ...(verify === undefined ? [] : checkVerify(name, verify, policy, context)),
      ...(catchUp === undefined ? [] : catchUpRules(name, catchUp, verify)),
      ...(budget?.usd === undefined ? [] : checkBudget(main, findings)),
    ]
    for (const fault of faults) {
      // There is one, as the key has a value.
      const { source, path } = giverOf(fault.keys) as WrittenPolicy
      findings.report(source, findingOf(fault, path))
    }
  }
}

function contextOf({ source, value }: CheckedFile<ConfigurationValue>, findings: Findings): RuleContext {
  const isSound = (...keys: readonly string[]) =>
    findings.isSound(source, ...keys.map((key) => key.split('.')))
  const openers = isSound(...tokenKeys) ? [...openersOf(value)] : []
  return {
    ...(isSound('gateway.host') && { host: value.gateway.host }),
    hasProxies: isSound('gateway.trustedProxies') && value.gateway.trustedProxies.length > 0,
    openers: new Map(openers.toReversed().map(({ token, key }) => [token, writePath(key)])),
  }
}

function* checkBudget(
  { source, value }: CheckedFile<ConfigurationValue>,
  findings: Findings,
): Iterable<KeyFault> {
  const reads = ['defaults', 'providers', 'prices'].map((key) => ['agents', key])
  if (!findings.isSound(source, ...reads)) return
  const fault = unpricedDefault(value.agents)
  if (fault) yield { keys: ['budget', 'usd'], code: 'MODEL_WITHOUT_PRICE', ...fault }
}

function* checkOpen({ host, hasProxies }: RuleContext): Iterable<KeyFault> {
  if (host === undefined) return
  const at = { keys: ['auth'], at: 'key' } as const
  if (!isLoopback(host))
    yield {
      ...at,
      code: 'AUTH_NONE_PUBLIC',
      problem: 'is `none`, and `gateway.host` lets other machines in',
      hint: 'Remove the key, so that a token or a signature is asked for; or set `gateway.host: 127.0.0.1`.',
    }
  else if (hasProxies)
    yield {
      ...at,
      severity: 'warning',
      code: 'AUTH_NONE_PROXIED',
      problem: 'is `none`, and `gateway.trustedProxies` says that a proxy passes requests of others on',
      hint: 'Remove the key, unless the proxy keeps everybody out of this endpoint.',
    }
}

function* checkTokens({ auth, token, verify }: EndpointPolicy, { openers }: RuleContext): Iterable<KeyFault> {
  const keys = ['token']
  const why = whyUnused(auth, verify)
  const hint =
    auth === 'none'
      ? 'Remove it, or remove `auth: none` so that it is asked for.'
      : 'Remove it, or write `auth: both` to ask for a token and a signature.'
  if (why !== undefined) yield noEffect(keys, why, hint)
  for (const each of tokensAt(keys, token)) {
    const place = each.path
    for (const fault of tokenFaults(each.token)) yield { ...fault, keys, place }
    if (each.token.trim() === '') continue
    const opener = openers.get(each.token)
    if (opener === undefined) continue
    if (opener === 'hooks.token')
      yield {
        keys,
        place,
        severity: 'warning',
        code: 'TOKEN_REPEATED',
        problem: 'adds nothing: it equals `hooks.token`, which opens every endpoint',
        hint: 'Give it a value of its own, for a sender that is to reach this endpoint alone; or remove it.',
      }
    else {
      const may = opener === 'gateway.metrics.token' ? 'read the metrics' : 'be an admin'
      const hint = `Give them different values: a sender of hooks must not ${may}.`
      yield { keys, place, code: 'TOKEN_SHARED', problem: `equals \`${opener}\``, hint }
    }
  }
}

function whyUnused(auth: EndpointPolicy['auth'], verify: VerifyPolicy | undefined): string | undefined {
  if (auth === 'none') return '`auth: none` asks for nothing'
  if (auth === 'signature') return '`auth: signature` asks for a signature alone'
  return auth === undefined && verify && hasMaterial(verify)
    ? '`verify` asks for a signature instead'
    : undefined
}

function* checkVerify(
  endpoint: string,
  { provider, secret, verifyToken, publicUrl }: VerifyPolicy,
  policy: EndpointPolicy,
  context: RuleContext,
): Iterable<KeyFault> {
  if (provider !== undefined && isBuiltIn(endpoint) && !fitsDrafts.has(provider))
    yield {
      keys: ['verify', 'provider'],
      severity: 'warning',
      code: 'PROVIDER_UNFIT',
      problem: `sends bodies of its own, which \`${endpoint}\` does not take`,
      hint: 'Give it an endpoint of its own with a mapping. For senders that you write: `hmac` or `standard-webhooks`.',
    }
  const keys = ['verify', 'secret']
  for (const { path: place, token: each } of tokensAt(keys, secret)) {
    for (const fault of secretFaults(each)) yield { ...fault, keys, place }
    for (const fault of checkShared(each, policy, context)) yield { ...fault, keys, place }
  }
  for (const fault of checkShared(verifyToken ?? '', policy, context))
    yield { ...fault, keys: ['verify', 'verifyToken'] }
  if (isPlainHttp(publicUrl))
    yield {
      keys: ['verify', 'publicUrl'],
      severity: 'warning',
      code: 'PUBLIC_URL_PLAIN',
      problem: 'is plain http: anybody on the way can read the requests and send them again',
      hint: 'Have a proxy take https for the gateway, and give that address to the provider and to `publicUrl`.',
    }
}

const isBuiltIn = (endpoint: string) => endpoint === 'wake' || endpoint === 'agent'
/** Schemes for senders that can be set up to write the bodies of the built-in endpoints. */
const fitsDrafts: ReadonlySet<string> = new Set(['hmac', 'standard-webhooks', 'svix'])

/** What a provider knows, and shows to others who ask it, must open nothing. */
function checkShared(
  secret: string,
  { token }: EndpointPolicy,
  { openers }: RuleContext,
): Omit<KeyFault, 'keys'>[] {
  const isToken = tokensAt([], token).some((each) => each.token === secret)
  const opener = openers.get(secret)
  const other = opener ? `\`${opener}\`` : isToken ? 'a token of the endpoint' : undefined
  if (secret === '' || other === undefined) return []
  const hint = 'Give them different values: what a provider holds must open nothing else.'
  return [{ code: 'SECRET_SHARED', problem: `equals ${other}`, hint }]
}

function isPlainHttp(publicUrl: string | undefined): boolean {
  const url = URL.parse(publicUrl ?? '')
  return url?.protocol === 'http:' && !isLoopback(url.hostname)
}
