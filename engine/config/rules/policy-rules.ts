/** Checks merged endpoint policies: who may send, with which secret, and what runs may cost. No finding shows a secret. */

import { backgroundMs, yieldIfDue } from '../../yield.ts'
import { type Finding, noEffect } from '../file/diagnostic.ts'
import type { Diagnostics } from '../file/diagnostics.ts'
import type { CheckedFile } from '../schema/checked-file.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import type { CatchUpPolicy, EndpointPolicy, VerifyPolicy } from '../schema/policy-schema.ts'
import { isLoopback } from '../values/loopback.ts'
import { type Path, valueAt, writePath } from '../values/path.ts'
import { parseDuration } from '../values/quantities.ts'
import { unpricedDefault } from './agent-rules.ts'
import type { MergedPolicies, WrittenPolicy } from './endpoint-policies.ts'
import { hasMaterial } from './material.ts'
import { openersOf, secretFaults, type TokenFault, tokenFaults, tokenKeys, tokensAt } from './token-rules.ts'
import { verifyRules } from './verify-rules.ts'

/** The part of the configuration that the rules read. Invalid values are absent. */
interface RuleContext {
  readonly host?: string
  readonly hasProxies: boolean
  /** The key that sets a token, for tokens that open more than one endpoint. */
  readonly openers: ReadonlyMap<string, string>
}

export async function checkPolicies(
  { endpoints, writtenAbout }: MergedPolicies,
  main: CheckedFile<ConfigurationValue>,
  diagnostics: Diagnostics,
): Promise<void> {
  const context = contextOf(main, diagnostics)
  for (const [name, policy] of Object.entries(endpoints)) {
    await yieldIfDue(backgroundMs)
    const { auth, token, verify, budget, catchUp } = policy
    const written = writtenAbout(name)
    const definitionOf = (path: Path) => written.findLast(({ policy }) => valueAt(policy, path) !== undefined)
    const findings = [
      ...verifyRules(policy, (path) => definitionOf(path)?.from),
      ...(auth === 'none' ? checkOpen(context) : []),
      ...(token === undefined ? [] : checkTokens(policy, context)),
      ...(verify === undefined ? [] : checkVerify(name, verify, policy, context)),
      ...(catchUp === undefined ? [] : catchUpRules(name, catchUp, verify)),
      ...(budget?.usd === undefined ? [] : checkBudget(main, diagnostics)),
    ]
    for (const finding of findings) {
      // There is one, as the key has a value.
      const { source, path } = definitionOf(finding.path) as WrittenPolicy
      diagnostics.report(source, [finding], path)
    }
  }
}

function contextOf(
  { source, value }: CheckedFile<ConfigurationValue>,
  diagnostics: Diagnostics,
): RuleContext {
  const isSound = (...keys: readonly string[]) =>
    diagnostics.isSound(source, ...keys.map((key) => key.split('.')))
  const openers = isSound(...tokenKeys) ? [...openersOf(value)] : []
  return {
    ...(isSound('gateway.host') && { host: value.gateway.host }),
    hasProxies: isSound('gateway.trustedProxies') && value.gateway.trustedProxies.length > 0,
    openers: new Map(openers.toReversed().map(({ token, key }) => [token, writePath(key)])),
  }
}

function* checkBudget(
  { source, value }: CheckedFile<ConfigurationValue>,
  diagnostics: Diagnostics,
): Iterable<Finding> {
  const reads = ['defaults', 'providers', 'prices'].map((key) => ['agents', key])
  const fault = diagnostics.isSound(source, ...reads) ? unpricedDefault(value.agents) : undefined
  if (fault) yield { path: ['budget', 'usd'], code: 'MODEL_WITHOUT_PRICE', ...fault }
}

function* checkOpen({ host, hasProxies }: RuleContext): Iterable<Finding> {
  const path = ['auth']
  if (host === undefined) return
  if (!isLoopback(host)) {
    const problem = 'is `none`, and `gateway.host` lets other machines in'
    const hint =
      'Remove the key, so that a token or a signature is asked for; or set `gateway.host: 127.0.0.1`.'
    yield { path, at: 'key', code: 'AUTH_NONE_PUBLIC', problem, hint }
  } else if (hasProxies) {
    const problem = 'is `none`, and `gateway.trustedProxies` says that a proxy passes requests of others on'
    const hint = 'Remove the key, unless the proxy keeps everybody out of this endpoint.'
    yield { path, at: 'key', severity: 'warning', code: 'AUTH_NONE_PROXIED', problem, hint }
  }
}

function* checkTokens({ auth, token, verify }: EndpointPolicy, { openers }: RuleContext): Iterable<Finding> {
  const path = ['token']
  const why = whyUnused(auth, verify)
  const advice =
    auth === 'none'
      ? 'Remove it, or remove `auth: none` so that it is asked for.'
      : 'Remove it, or write `auth: both` to ask for a token and a signature.'
  if (why !== undefined) yield noEffect(path, why, advice)
  for (const { path: place, token: each } of tokensAt(path, token)) {
    for (const fault of tokenFaults(each)) yield { ...fault, path, place }
    const opener = each.trim() === '' ? undefined : openers.get(each)
    if (opener === 'hooks.token') {
      const problem = 'adds nothing: it equals `hooks.token`, which opens every endpoint'
      const hint =
        'Give it a value of its own, for a sender that is to reach this endpoint alone; or remove it.'
      yield { path, place, severity: 'warning', code: 'TOKEN_REPEATED', problem, hint }
    } else if (opener !== undefined) {
      const may = opener === 'gateway.metrics.token' ? 'read the metrics' : 'be an admin'
      const hint = `Give them different values: a sender of hooks must not ${may}.`
      yield { path, place, code: 'TOKEN_SHARED', problem: `equals \`${opener}\``, hint }
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
): Iterable<Finding> {
  const isBuiltIn = endpoint === 'wake' || endpoint === 'agent'
  if (provider !== undefined && isBuiltIn && !fitsDrafts.has(provider)) {
    const problem = `sends bodies of its own, which \`${endpoint}\` does not take`
    const hint =
      'Give it an endpoint of its own with a mapping. For senders that you write: `hmac` or `standard-webhooks`.'
    yield { path: ['verify', 'provider'], severity: 'warning', code: 'PROVIDER_UNFIT', problem, hint }
  }
  const path = ['verify', 'secret']
  for (const { path: place, token: each } of tokensAt(path, secret))
    for (const fault of [...secretFaults(each), ...checkShared(each, policy, context)])
      yield { ...fault, path, place }
  for (const fault of checkShared(verifyToken ?? '', policy, context))
    yield { ...fault, path: ['verify', 'verifyToken'] }
  const url = URL.parse(publicUrl ?? '')
  if (url?.protocol !== 'http:' || isLoopback(url.hostname)) return
  const problem = 'is plain http: anybody on the way can read the requests and send them again'
  const hint =
    'Have a proxy take https for the gateway, and give that address to the provider and to `publicUrl`.'
  yield { path: ['verify', 'publicUrl'], severity: 'warning', code: 'PUBLIC_URL_PLAIN', problem, hint }
}

/** Schemes for senders that can be set up to write the bodies of the built-in endpoints. */
const fitsDrafts: ReadonlySet<string> = new Set(['hmac', 'standard-webhooks', 'svix'])

/** A secret that the provider knows, and shows to others who ask it, must not be a token. */
function checkShared(secret: string, { token }: EndpointPolicy, { openers }: RuleContext): TokenFault[] {
  const isToken = tokensAt([], token).some((each) => each.token === secret)
  const opener = openers.get(secret)
  const other = opener ? `\`${opener}\`` : isToken ? 'a token of the endpoint' : undefined
  if (secret === '' || other === undefined) return []
  const hint = 'Give them different values: what a provider holds must open nothing else.'
  return [{ code: 'SECRET_SHARED', problem: `equals ${other}`, hint }]
}

function* catchUpRules(
  endpoint: string,
  { every, lookBack }: CatchUpPolicy,
  verify: VerifyPolicy | undefined,
): Iterable<Finding> {
  if (endpoint === 'wake' || endpoint === 'agent') {
    yield noEffect(['catchUp'], `no provider sends to \`${endpoint}\``)
    return
  }
  if (verify?.provider === undefined) {
    const problem = 'asks the provider of `verify.provider`, and there is none'
    const hint = 'Write `verify:` with the provider and its secret, or remove it.'
    yield { path: ['catchUp'], at: 'key', code: 'CATCH_UP_UNSUPPORTED', problem, hint }
    return
  }
  const invalid = (key: string, problem: string, hint: string): Finding => {
    return { path: ['catchUp', key], code: 'INVALID_VALUE', problem, hint }
  }
  const everyMs = parseDuration(every)
  if (everyMs < 60_000) {
    const hint = 'The API allows a limited number of calls: write 1m, or more.'
    yield invalid('every', 'is shorter than 1m', hint)
  }
  if (everyMs >= parseDuration(lookBack)) {
    const problem = `is not longer than \`every\` (${every}), so that something could be missed between two times`
    yield invalid('lookBack', problem, 'Write a longer `lookBack`, or a shorter `every`.')
  }
}
