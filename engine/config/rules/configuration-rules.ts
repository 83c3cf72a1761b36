/** Checks the rules of a configuration that go beyond the shape of single keys. */

import { type Finding, noEffect } from '../file/diagnostic.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import { foreignKey } from '../schema/foreign-keys.ts'
import { channelName } from '../values/channel-name.ts'
import { isLoopback } from '../values/loopback.ts'
import { keyOfSource, mailbox, mailboxPath } from '../values/mailbox.ts'
import { didYouMean } from '../values/nearest.ts'
import { overlapsPath } from '../values/path-overlap.ts'
import { checkPrices, checkProvider, checkQuietHours, checkRetry } from './agent-rules.ts'
import { checkAliases, checkDefaultModel } from './models.ts'
import { checkModuleName, moduleName } from './module-name.ts'
import { checkTokens, secretFaults, sharedTokens, tokenKeys } from './token-rules.ts'

/** A rule runs only if there are no errors in the keys that it reads. */
type Rule = readonly [reads: readonly string[], check: (value: ConfigurationValue) => Iterable<Finding>]

const modelKeys = ['agents.defaults.models', 'agents.defaults.model']

/** They run one after the other, because a finding of one can make others needless. */
export const rules: readonly Rule[] = [
  [['hooks.enabled', 'hooks.token'], checkHookToken],
  ...tokenKeys.map((key): Rule => [[key], (value) => checkTokens(value, key)]),
  [tokenKeys, sharedTokens],
  [['gateway.host', 'hooks.enabled', 'hooks.allowQueryToken'], checkQueryToken],
  [['hooks.allowedSessionKeyPrefixes', 'hooks.defaultSessionKey'], checkSessionKeys],
  [['hooks.allowedAgentIds'], checkAgentIds],
  [['hooks.path'], checkHookPath],
  [['hooks.enabled', keyOfSource(mailbox)], ({ hooks }) => checkMailbox(hooks)],
  [['gateway.trustedProxies'], checkProxies],
  [['hooks.transforms.modules'], checkModules],
  [['gateway.store'], checkStore],
  [['agents.defaults.models'], ({ agents }) => checkAliases(agents.defaults)],
  [modelKeys, ({ agents }) => checkDefaultModel(agents.defaults)],
  [
    [...modelKeys, 'agents.defaults.runner', 'agents.runners', 'agents.providers'],
    ({ agents }) => checkProvider(agents),
  ],
  [[...modelKeys, 'agents.providers', 'agents.prices', 'agents.budget'], ({ agents }) => checkPrices(agents)],
  [['agents.defaults.retry'], ({ agents }) => checkRetry(agents.defaults)],
  [['agents.defaults.heartbeat.quietHours'], ({ agents }) => checkQuietHours(agents.defaults)],
  [['agents.route', 'channels'], checkRoute],
  [['gateway.issues', 'channels'], checkIssues],
]

function* checkHookToken({ hooks }: ConfigurationValue): Iterable<Finding> {
  if (!hooks.enabled || hooks.token !== undefined) return
  const problem = 'is true, but `hooks.token` is not set'
  const hint = 'Write `token: "${REVEILLE_HOOK_TOKEN}"` under `hooks:` and set the variable.'
  yield { path: ['hooks', 'enabled'], code: 'HOOK_TOKEN_MISSING', problem, hint }
}

function* checkQueryToken({ gateway, hooks }: ConfigurationValue): Iterable<Finding> {
  if (!hooks.enabled || !hooks.allowQueryToken || isLoopback(gateway.host)) return
  const message = 'Other machines reach the gateway, and a token in an address (`?token=`) is taken'
  const hint =
    'Write `allowQueryToken: false` under `hooks:`. Proxies and browsers keep addresses, and the token in them.'
  yield { severity: 'warning', path: ['gateway', 'host'], code: 'QUERY_TOKEN_PUBLIC', message, hint }
}

function* checkAgentIds({ hooks }: ConfigurationValue): Iterable<Finding> {
  const others = hooks.allowedAgentIds?.filter((id) => !['*', 'main'].includes(id.trim().toLowerCase()))
  if (others === undefined || others.length === 0) return
  const path = ['hooks', 'allowedAgentIds']
  const problem = 'names agents of OpenClaw; there is one agent here, `main`'
  const hint =
    'A request may name those, and `main` answers; with `runner` and `model` a mapping says who that is.'
  yield { severity: 'warning', path, at: 'key', code: 'FOREIGN_KEY', problem, hint }
}

function* checkProxies({ gateway }: ConfigurationValue): Iterable<Finding> {
  const named = ['gateway', 'trustedProxies']
  const problem = 'trusts every address, so any client can name another as its own'
  const hint = 'Name the addresses of your proxies, such as 10.0.0.0/8 or `uniquelocal`.'
  for (const [index, range] of gateway.trustedProxies.entries())
    if (/\/0+$/.test(range))
      yield { severity: 'warning', path: [...named, index], named, code: 'EVERYONE_TRUSTED', problem, hint }
}

function checkStore({ gateway }: ConfigurationValue): Finding[] {
  const password = /^postgres(?:ql)?:\/\/[^:@/]*:([^@/]*)@/.exec(gateway.store)?.[1] ?? ''
  return secretFaults(password).map((fault) => {
    return { ...fault, path: ['gateway', 'store'], problem: `has a password that ${fault.problem}` }
  })
}

function checkRoute({ agents, channels }: ConfigurationValue): Iterable<Finding> {
  return knownChannel(['agents', 'route', 'channel'], agents.route?.channel, channels)
}

function* checkIssues({ gateway: { issues }, channels }: ConfigurationValue): Iterable<Finding> {
  yield* knownChannel(['gateway', 'issues', 'channel'], issues.channel, channels)
  if (issues.to === undefined || issues.channel !== undefined) return
  const problem = 'has no effect without `gateway.issues.channel`'
  yield { path: ['gateway', 'issues', 'to'], code: 'NO_EFFECT', problem, hint: 'Name the channel, too.' }
}

function* knownChannel(
  path: readonly string[],
  channel: string | undefined,
  channels: ConfigurationValue['channels'],
): Iterable<Finding> {
  if (channel === undefined || Object.hasOwn(channels, channel)) return
  const meant = channelName(channel, (name) => Object.hasOwn(channels, name))
  const hint = didYouMean(meant, Object.keys(channels), 'Name it under `channels:` first.')
  yield { path, code: 'UNKNOWN_CHANNEL', problem: 'names a channel that is not configured', hint }
}

/** Keys that the gateway generates must be keys that it accepts. */
function* checkSessionKeys({ hooks }: ConfigurationValue): Iterable<Finding> {
  const prefixes = hooks.allowedSessionKeyPrefixes
  const key = hooks.defaultSessionKey?.trim()
  const path = ['hooks', 'defaultSessionKey']
  if (key?.toLowerCase() === 'main') {
    const hint = 'Write another, such as `hook:ingress`.'
    yield { path, code: 'INVALID_VALUE', problem: 'cannot be `main`, the key of the main session', hint }
  }
  if (prefixes === undefined || prefixes.some((prefix) => (key ?? 'hook:').startsWith(prefix))) return
  const code = 'SESSION_KEY_NOT_ALLOWED'
  if (key !== undefined) {
    yield {
      path,
      code,
      problem: 'has none of the `allowedSessionKeyPrefixes`',
      hint: 'Change one of the two.',
    }
    return
  }
  const problem = 'leaves out `hook:`, with which the keys begin that requests without one are given'
  const hint =
    'Add "hook:", or write a `defaultSessionKey`: as it is, no request can go on with such a session.'
  yield { severity: 'warning', path: ['hooks', 'allowedSessionKeyPrefixes'], code, problem, hint }
}

/** Returns the path with one leading slash, none at the end and none doubled; `/` for an empty one. */
export function normalHookPath(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`
}

/** The paths that the gateway itself uses. */
const ownPaths = ['/api', '/console', '/metrics', '/healthz', '/readyz']

function* checkHookPath({ hooks }: ConfigurationValue): Iterable<Finding> {
  const path = ['hooks', 'path']
  const written = normalHookPath(hooks.path)
  if (written === '/') {
    const hint = 'Hooks need a folder of their own, such as /hooks.'
    yield { path, code: 'HOOK_PATH_ROOT', problem: 'cannot be `/`', hint }
  } else if (!/^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(written)) {
    const hint = 'Letters, digits, `-`, `_`, `.` and `~` between slashes.'
    const problem = 'holds characters that a path does not take unescaped'
    yield { path, code: 'INVALID_VALUE', problem, hint }
  } else if (ownPaths.some((own) => written === own || written.startsWith(`${own}/`))) {
    const hint = `Taken are ${ownPaths.join(', ')}.`
    yield { path, code: 'HOOK_PATH_TAKEN', problem: 'lies where the gateway has pages of its own', hint }
  }
}

const transformModules = ['hooks', 'transforms', 'modules'] as const

function* checkModules({ hooks }: ConfigurationValue): Iterable<Finding> {
  const taken = new Map<string, string>()
  for (const name of Object.keys(hooks.transforms.modules)) {
    const path = [...transformModules, name]
    yield* checkModuleName(name, path, 'key')
    const other = taken.get(moduleName(name))
    taken.set(moduleName(name), name)
    const problem = `is the module \`${other}\` again`
    if (other !== undefined)
      yield { path, at: 'key', code: 'DUPLICATE_FIELD', problem, hint: 'Keep one of the two.' }
  }
}

/** Warns of limits for modules that no mapping names, because they are most likely misspelt. `used` has normalised names. */
export function* unusedModules({ hooks }: ConfigurationValue, used: ReadonlySet<string>): Iterable<Finding> {
  for (const name of Object.keys(hooks.transforms.modules)) {
    if (used.has(moduleName(name))) continue
    const why = 'no mapping has a transform of that module'
    yield noEffect([...transformModules, name], why, didYouMean(name, used))
  }
}

/** `served` has the paths of all mappings. A mapping without a path covers every endpoint. */
export function* unusedEndpoints(
  { hooks }: ConfigurationValue,
  served: readonly (string | undefined)[],
): Iterable<Finding> {
  const paths = new Set(served)
  if (paths.size === 0 || paths.has(undefined)) return
  const others = [...paths] as string[]
  for (const name of Object.keys(hooks.endpoints)) {
    if (name === 'wake' || name === 'agent' || paths.has(name)) continue
    if (others.some((path) => overlapsPath(path, name))) continue
    const hint = didYouMean(name, others, 'Remove it, or give a mapping that path.')
    yield noEffect(['hooks', 'endpoints', name], 'no mapping has that path', hint)
  }
}

function* checkMailbox({ [mailbox]: block, enabled }: ConfigurationValue['hooks']): Iterable<Finding> {
  for (const key of Object.keys(block)) {
    const finding = foreignKey([...mailboxPath, key], block)
    if (finding !== undefined && finding !== 'none') yield finding
  }
  if (enabled || Object.keys(block).length === 0) return
  const problem = 'names a mailbox, and no mail can be taken while `hooks.enabled` is not true'
  const hint = 'Write `enabled: true` under `hooks:`. What comes until then is fetched afterwards.'
  yield { severity: 'warning', path: mailboxPath, at: 'key', code: 'MAIL_WITHOUT_HOOKS', problem, hint }
}
