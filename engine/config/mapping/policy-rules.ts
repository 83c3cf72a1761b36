/** Checks endpoint policies once they are joined: who gets in, and with what. No finding shows a secret. */

import { backgroundMs, yieldIfDue } from '../../yield.ts'
import type { EndpointPolicy } from '../configuration.ts'
import type { Finding } from '../diagnostic/diagnostic.ts'
import type { Findings } from '../diagnostic/findings.ts'
import type { CheckedFile } from '../file/checked-file.ts'
import { isLoopback } from '../loopback.ts'
import { type Path, writePath } from '../path.ts'
import { gatewayTokens, hookTokens } from '../rules/rules.ts'
import { checkSecret, checkToken, tokensAt } from '../rules/token-rules.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import type { VerifyPolicy } from '../schema/policy-schema.ts'
import { hasMaterial } from '../verification/material.ts'
import type { JoinedPolicies, PolicyRules, WrittenKey, WrittenPolicy } from './endpoint-policies.ts'
import { verifyRules } from './verify-rules.ts'

/** The part of the configuration that the rules read; what is wrong itself is absent. */
interface RuleContext {
  readonly host?: string
  readonly hasProxies: boolean
  /** What opens the gateway: the key that says so, by token. */
  readonly openers: ReadonlyMap<string, Opener>
}

const adminKey = '`gateway.auth.token`'
const hookKey = '`hooks.token`'
type Opener = typeof adminKey | typeof hookKey

/** How many policies are checked before the work asks whether to yield. */
const atOnce = 64

export async function checkPolicies(
  { endpoints, writtenAbout }: JoinedPolicies,
  main: CheckedFile<ConfigurationValue>,
  findings: Findings,
): Promise<void> {
  const context = contextOf(main, findings)
  let count = 0
  for (const [name, policy] of Object.entries(endpoints)) {
    if (++count % atOnce === 0) await yieldIfDue(backgroundMs)
    const { auth, token, verify } = policy
    if (auth === undefined && token === undefined && verify === undefined) continue
    const written = writtenAbout(name)
    const apply = (keys: Path, rule: (at: WrittenKey) => Iterable<Finding>) => {
      const giver = giverOf(keys, written)
      const path = [...giver.path, ...keys]
      for (const finding of rule({ path, name: `\`${writePath(path)}\`` }))
        findings.report(giver.source, finding)
    }
    const originOf = (keys: Path) =>
      written.findLast(({ policy }) => valueAt(policy, keys) !== undefined)?.from
    for (const [keys, rule] of verifyRules(policy, originOf)) apply(keys, rule)
    if (auth === 'none') apply(['auth'], (at) => checkOpen(at, context))
    if (token !== undefined) apply(['token'], (at) => checkTokens(at, policy, context))
    if (verify !== undefined) {
      for (const [keys, rule] of rulesOfVerify(name, verify, policy, context)) apply(keys, rule)
    }
  }
}

function contextOf({ source, value }: CheckedFile<ConfigurationValue>, findings: Findings): RuleContext {
  const sound = <Value>(path: Path, read: () => Value): Value | undefined =>
    findings.isSound(source, path) ? read() : undefined
  const host = sound(['gateway', 'host'], () => value.gateway.host)
  const proxies = sound(['gateway', 'trustedProxies'], () => value.gateway.trustedProxies) ?? []
  const admin = sound(['gateway', 'auth', 'token'], () => gatewayTokens(value.gateway.auth.token)) ?? []
  const tokens = sound(['hooks', 'token'], () => hookTokens(value.hooks.token)) ?? []
  const openers = new Map<string, Opener>()
  for (const { token } of tokens) openers.set(token, hookKey)
  for (const { token } of admin) openers.set(token, adminKey)
  return { ...(host !== undefined && { host }), hasProxies: proxies.length > 0, openers }
}

/** Finds the policy whose value holds; there is one, as the key has a value. */
function giverOf(keys: Path, written: readonly WrittenPolicy[]): WrittenPolicy {
  return written.findLast(({ policy }) => valueAt(policy, keys) !== undefined) as WrittenPolicy
}

function valueAt(policy: EndpointPolicy, keys: Path): unknown {
  let value: unknown = policy
  for (const key of keys) value = (value as Record<string, unknown> | undefined)?.[key]
  return value
}

function* checkOpen({ path, name }: WrittenKey, { host, hasProxies }: RuleContext): Iterable<Finding> {
  if (host === undefined) return
  if (!isLoopback(host)) {
    yield {
      path,
      at: 'key',
      code: 'AUTH_NONE_PUBLIC',
      message: `${name} is \`none\`, and \`gateway.host\` lets other machines in`,
      hint: 'Remove the key, so that a token or a signature is asked for; or set `gateway.host: 127.0.0.1`.',
    }
  } else if (hasProxies) {
    yield {
      severity: 'warning',
      path,
      at: 'key',
      code: 'AUTH_NONE_PROXIED',
      message: `${name} is \`none\`, and \`gateway.trustedProxies\` says that a proxy passes requests of others on`,
      hint: 'Remove the key, unless the proxy keeps everybody out of this endpoint.',
    }
  }
}

function* checkTokens(
  { path, name }: WrittenKey,
  { auth, token, verify }: EndpointPolicy,
  { openers }: RuleContext,
): Iterable<Finding> {
  const why = whyUnused(auth, verify)
  if (why !== undefined) {
    yield {
      severity: 'warning',
      path,
      at: 'key',
      code: 'UNUSED_FIELD',
      message: `${name} has no effect: ${why}`,
      hint:
        auth === 'none'
          ? 'Remove it, or remove `auth: none` so that it is asked for.'
          : 'Remove it, or write `auth: both` to ask for a token and a signature.',
    }
  }
  for (const each of tokensAt(path, token)) {
    yield* checkToken(each.path, each.token, name)
    if (each.token.trim() === '') continue
    const opener = openers.get(each.token)
    if (opener === adminKey) {
      yield {
        path: each.path,
        code: 'TOKEN_SHARED',
        message: `${name} equals ${adminKey}`,
        hint: 'Give them different values: whoever may send a hook must not be an admin.',
      }
    } else if (opener === hookKey) {
      yield {
        severity: 'warning',
        path: each.path,
        code: 'TOKEN_REPEATED',
        message: `${name} adds nothing: it equals ${hookKey}, which opens every endpoint`,
        hint: 'Give it a value of its own, for a sender that is to reach this endpoint alone; or remove it.',
      }
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

function* rulesOfVerify(
  endpoint: string,
  verify: VerifyPolicy,
  policy: EndpointPolicy,
  context: RuleContext,
): PolicyRules {
  const { provider, secret, verifyToken, publicUrl } = verify
  if (provider !== undefined && isBuiltIn(endpoint) && !fitsDrafts.has(provider))
    yield [['verify', 'provider'], (at) => unfitProvider(at, endpoint)]
  if (secret !== undefined) yield [['verify', 'secret'], (at) => checkSecrets(at, secret, policy, context)]
  if (verifyToken !== undefined)
    yield [['verify', 'verifyToken'], (at) => checkShared(at, verifyToken, policy, context)]
  if (publicUrl !== undefined) yield [['verify', 'publicUrl'], (at) => checkPublicUrl(at, publicUrl)]
}

const isBuiltIn = (endpoint: string) => endpoint === 'wake' || endpoint === 'agent'
/** Schemes that anybody can sign with, who writes a body as the built-in endpoints take it. */
const fitsDrafts: ReadonlySet<string> = new Set(['hmac', 'standard-webhooks', 'svix'])

function* unfitProvider({ path, name }: WrittenKey, endpoint: string): Iterable<Finding> {
  yield {
    severity: 'warning',
    path,
    code: 'PROVIDER_UNFIT',
    message: `${name} sends bodies of its own, which \`${endpoint}\` does not take`,
    hint: 'Give it an endpoint of its own with a mapping. For senders that you write: `hmac` or `standard-webhooks`.',
  }
}

function* checkSecrets(
  { path, name }: WrittenKey,
  secrets: NonNullable<VerifyPolicy['secret']>,
  policy: EndpointPolicy,
  context: RuleContext,
): Iterable<Finding> {
  for (const { path: at, token: secret } of tokensAt(path, secrets)) {
    yield* checkSecret(at, secret, name)
    yield* checkShared({ path: at, name }, secret, policy, context)
  }
}

/** What a provider knows, and shows to others who ask it. */
function* checkShared(
  { path, name }: WrittenKey,
  secret: string,
  { token }: EndpointPolicy,
  { openers }: RuleContext,
): Iterable<Finding> {
  if (secret === '') return
  const other =
    openers.get(secret) ?? (textsIn(token).includes(secret) ? 'a token of the endpoint' : undefined)
  if (other === undefined) return
  yield {
    path,
    code: 'SECRET_SHARED',
    message: `${name} equals ${other}`,
    hint: 'Give them different values: what a provider holds must open nothing else.',
  }
}

function textsIn(texts: string | readonly string[] | undefined): readonly string[] {
  return texts === undefined ? [] : typeof texts === 'string' ? [texts] : texts
}

function* checkPublicUrl({ path, name }: WrittenKey, publicUrl: string): Iterable<Finding> {
  if (!URL.canParse(publicUrl)) return
  const { protocol, hostname } = new URL(publicUrl)
  if (protocol !== 'http:' || isLoopback(hostname)) return
  yield {
    severity: 'warning',
    path,
    code: 'PUBLIC_URL_PLAIN',
    message: `${name} is plain http: whoever is on the way reads what is sent, and can send it again`,
    hint: 'Have a proxy take https for the gateway, and give that address to the provider and to `publicUrl`.',
  }
}
