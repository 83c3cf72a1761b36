/** Checks the rules of a configuration that go beyond the shape of single keys. */

import type { Finding } from '../file/diagnostic.ts'
import { findingOf, noEffect } from '../file/key-fault.ts'
import type { ConfigurationValue } from '../schema/configuration-schema.ts'
import { channelName } from '../values/channel-name.ts'
import { isLoopback } from '../values/loopback.ts'
import { didYouMean } from '../values/nearest.ts'
import { writePath } from '../values/path.ts'
import { overlapsPath } from '../values/path-overlap.ts'
import { checkPrices, checkProvider, checkQuietHours, checkRetry } from './agent-rules.ts'
import { checkMailbox } from './mailbox-rules.ts'
import { checkAliases, checkDefaultModel } from './models.ts'
import { checkModuleName, moduleName } from './module-name.ts'
import {
  gatewayTokens,
  hookTokens,
  metricsTokens,
  secretFaults,
  sharedNames,
  sharedTokens,
  tokenKeys,
  weakTokens,
} from './token-rules.ts'

/** A rule runs only if there are no errors in the keys that it reads. */
interface Rule {
  readonly reads: readonly string[]
  check(value: ConfigurationValue): Iterable<Finding>
}

const transformModules = ['hooks', 'transforms', 'modules'] as const

export const rules: readonly Rule[] = [
  {
    reads: ['hooks.enabled', 'hooks.token'],
    *check({ hooks }) {
      if (!hooks.enabled || hooks.token !== undefined) return
      yield {
        path: ['hooks', 'enabled'],
        code: 'HOOK_TOKEN_MISSING',
        message: '`hooks.enabled` is true, but `hooks.token` is not set',
        hint: 'Write `token: "${REVEILLE_HOOK_TOKEN}"` under `hooks:` and set the variable.',
      }
    },
  },
  { reads: ['hooks.token'], check: ({ hooks }) => weakTokens(hookTokens(hooks.token)) },
  {
    reads: ['gateway.metrics.token'],
    check: ({ gateway }) => weakTokens(metricsTokens(gateway.metrics.token)),
  },
  {
    reads: ['gateway.auth'],
    *check({ gateway }) {
      yield* weakTokens(gatewayTokens(gateway.auth))
      yield* sharedNames(gateway.auth)
    },
  },
  { reads: tokenKeys, check: sharedTokens },
  {
    reads: ['gateway.host', 'hooks.enabled', 'hooks.allowQueryToken'],
    *check({ gateway, hooks }) {
      if (!hooks.enabled || !hooks.allowQueryToken || isLoopback(gateway.host)) return
      yield {
        severity: 'warning',
        path: ['gateway', 'host'],
        code: 'QUERY_TOKEN_PUBLIC',
        message: 'Other machines reach the gateway, and a token in an address (`?token=`) is taken',
        hint: 'Write `allowQueryToken: false` under `hooks:`. Proxies and browsers keep addresses, and the token in them.',
      }
    },
  },
  {
    reads: ['hooks.allowedSessionKeyPrefixes', 'hooks.defaultSessionKey'],
    check: ({ hooks }) => checkSessionKeys(hooks),
  },
  {
    reads: ['hooks.allowedAgentIds'],
    *check({ hooks }) {
      const others = hooks.allowedAgentIds?.filter((id) => !['*', 'main'].includes(id.trim().toLowerCase()))
      if (others === undefined || others.length === 0) return
      yield {
        severity: 'warning',
        path: ['hooks', 'allowedAgentIds'],
        at: 'key',
        code: 'FOREIGN_KEY',
        message: '`hooks.allowedAgentIds` names agents of OpenClaw; there is one agent here, `main`',
        hint: 'A request may name those, and `main` answers; with `runner` and `model` a mapping says who that is.',
      }
    },
  },
  {
    reads: ['hooks.path'],
    *check({ hooks }) {
      yield* checkHookPath(normalHookPath(hooks.path))
    },
  },
  {
    reads: ['hooks.enabled', 'hooks.gmail'],
    check: ({ hooks }) => checkMailbox(hooks),
  },
  {
    reads: ['gateway.trustedProxies'],
    *check({ gateway }) {
      for (const [index, text] of gateway.trustedProxies.entries()) {
        if (!/\/0+$/.test(text)) continue
        yield {
          severity: 'warning',
          path: ['gateway', 'trustedProxies', index],
          code: 'EVERYONE_TRUSTED',
          message: '`gateway.trustedProxies` trusts every address, so any client can name another as its own',
          hint: 'Name the addresses of your proxies, such as 10.0.0.0/8 or `uniquelocal`.',
        }
      }
    },
  },
  {
    reads: ['hooks.transforms.modules'],
    check: ({ hooks }) => checkModules(Object.keys(hooks.transforms.modules)),
  },
  {
    reads: ['gateway.store'],
    *check({ gateway }) {
      const password = /^postgres(?:ql)?:\/\/[^:@/]*:([^@/]*)@/.exec(gateway.store)?.[1] ?? ''
      for (const fault of secretFaults(password))
        yield findingOf(
          { ...fault, keys: ['gateway', 'store'], problem: `has a password that ${fault.problem}` },
          [],
        )
    },
  },
  { reads: ['agents.defaults.models'], check: ({ agents }) => checkAliases(agents.defaults) },
  {
    reads: ['agents.defaults.models', 'agents.defaults.model'],
    check: ({ agents }) => checkDefaultModel(agents.defaults),
  },
  {
    reads: [
      'agents.defaults.models',
      'agents.defaults.model',
      'agents.defaults.runner',
      'agents.runners',
      'agents.providers',
    ],
    check: ({ agents }) => checkProvider(agents),
  },
  {
    reads: [
      'agents.defaults.models',
      'agents.defaults.model',
      'agents.providers',
      'agents.prices',
      'agents.budget',
    ],
    check: ({ agents }) => checkPrices(agents),
  },
  { reads: ['agents.defaults.retry'], check: ({ agents }) => checkRetry(agents.defaults) },
  {
    reads: ['agents.defaults.heartbeat.quietHours'],
    check: ({ agents }) => checkQuietHours(agents.defaults),
  },
  {
    reads: ['agents.route', 'channels'],
    check: ({ agents, channels }) => knownChannel('agents.route.channel', agents.route?.channel, channels),
  },
  {
    reads: ['gateway.issues', 'channels'],
    *check({ gateway: { issues }, channels }) {
      yield* knownChannel('gateway.issues.channel', issues.channel, channels)
      if (issues.to === undefined || issues.channel !== undefined) return
      yield {
        path: ['gateway', 'issues', 'to'],
        code: 'NO_EFFECT',
        message: '`gateway.issues.to` has no effect without `gateway.issues.channel`',
        hint: 'Name the channel, too.',
      }
    },
  },
]

function* knownChannel(
  key: string,
  channel: string | undefined,
  channels: ConfigurationValue['channels'],
): Iterable<Finding> {
  if (channel === undefined || Object.hasOwn(channels, channel)) return
  const meant = channelName(channel, (name) => Object.hasOwn(channels, name))
  yield {
    path: key.split('.'),
    code: 'UNKNOWN_CHANNEL',
    message: `\`${key}\` names a channel that is not configured`,
    hint: didYouMean(meant, Object.keys(channels), 'Name it under `channels:` first.'),
  }
}

/** Keys that the gateway generates must be keys that it accepts. */
function* checkSessionKeys({
  allowedSessionKeyPrefixes: prefixes,
  defaultSessionKey,
}: ConfigurationValue['hooks']): Iterable<Finding> {
  const key = defaultSessionKey?.trim()
  const path = ['hooks', 'defaultSessionKey']
  if (key?.toLowerCase() === 'main') {
    const message = '`hooks.defaultSessionKey` cannot be `main`, the key of the main session'
    yield { path, code: 'INVALID_VALUE', message, hint: 'Write another, such as `hook:ingress`.' }
  }
  if (prefixes === undefined || prefixes.some((prefix) => (key ?? 'hook:').startsWith(prefix))) return
  if (key === undefined) {
    yield {
      severity: 'warning',
      path: ['hooks', 'allowedSessionKeyPrefixes'],
      code: 'SESSION_KEY_NOT_ALLOWED',
      message:
        '`hooks.allowedSessionKeyPrefixes` leaves out `hook:`, with which the keys begin that requests without one are given',
      hint: 'Add "hook:", or write a `defaultSessionKey`: as it is, no request can go on with such a session.',
    }
  } else {
    const message = '`hooks.defaultSessionKey` has none of the `allowedSessionKeyPrefixes`'
    yield { path, code: 'SESSION_KEY_NOT_ALLOWED', message, hint: 'Change one of the two.' }
  }
}

/** Returns the path with one leading slash, none at the end and none doubled; `/` for an empty one. */
export function normalHookPath(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`
}

/** The paths that the gateway itself uses. */
const ownPaths = ['/api', '/console', '/metrics', '/healthz', '/readyz']

function* checkHookPath(path: string): Iterable<Finding> {
  const at = { path: ['hooks', 'path'] }
  if (path === '/') {
    const message = '`hooks.path` cannot be `/`'
    yield {
      ...at,
      code: 'HOOK_PATH_ROOT',
      message,
      hint: 'Hooks need a folder of their own, such as /hooks.',
    }
  } else if (!/^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(path)) {
    const message = '`hooks.path` holds characters that a path does not take unescaped'
    yield {
      ...at,
      code: 'INVALID_VALUE',
      message,
      hint: 'Letters, digits, `-`, `_`, `.` and `~` between slashes.',
    }
  } else if (ownPaths.some((own) => path === own || path.startsWith(`${own}/`))) {
    const message = '`hooks.path` lies where the gateway has pages of its own'
    yield { ...at, code: 'HOOK_PATH_TAKEN', message, hint: `Taken are ${ownPaths.join(', ')}.` }
  }
}

function* checkModules(names: readonly string[]): Iterable<Finding> {
  const taken = new Map<string, string>()
  for (const name of names) {
    const path = [...transformModules, name]
    const finding = checkModuleName(name, path, 'key')
    if (finding) yield finding
    const other = taken.get(moduleName(name))
    taken.set(moduleName(name), name)
    if (other === undefined) continue
    const message = `\`${writePath(path)}\` is the module \`${other}\` once more`
    yield { path, at: 'key', code: 'DUPLICATE_FIELD', message, hint: 'Keep one of the two.' }
  }
}

/** Warns of limits for modules that no mapping names, because they are most likely misspelt. `used` has normalised names. */
export function* unusedModules({ hooks }: ConfigurationValue, used: ReadonlySet<string>): Iterable<Finding> {
  for (const name of Object.keys(hooks.transforms.modules)) {
    if (used.has(moduleName(name))) continue
    const why = 'no mapping has a transform of that module'
    yield findingOf(noEffect([name], why, didYouMean(name, used)), transformModules)
  }
}

/** `served` has the paths of all mappings. A mapping without a path covers every endpoint. */
export function* unusedEndpoints(
  { hooks }: ConfigurationValue,
  served: readonly (string | undefined)[],
): Iterable<Finding> {
  if (served.length === 0) return
  for (const name of Object.keys(hooks.endpoints)) {
    if (builtInEndpoints.has(name) || served.some((path) => overlapsPath(path, name))) continue
    const paths = served.filter((each) => each !== undefined)
    const hint = didYouMean(name, paths, 'Remove it, or give a mapping that path.')
    yield findingOf(noEffect([name], 'no mapping has that path', hint), ['hooks', 'endpoints'])
  }
}

const builtInEndpoints: ReadonlySet<string> = new Set(['wake', 'agent'])
