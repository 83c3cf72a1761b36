/**
 * Turns a checked value into the settings of a valid configuration: defaults filled in, references resolved, paths
 * absolute, times in milliseconds, and the few names that differ from the file's.
 */

import { normalHookPath } from './rules/configuration-rules.ts'
import { modelRules, namedModel } from './rules/models.ts'
import { moduleName } from './rules/module-name.ts'
import { gatewayTokens, tokensAt } from './rules/token-rules.ts'
import type { ConfigurationValue } from './schema/configuration-schema.ts'
import { parseAddressRange } from './values/address-range.ts'
import type { DeepReadonly } from './values/freeze-deep.ts'
import { mailbox, mailboxSource } from './values/mailbox.ts'
import { parseByteSize, parseDuration } from './values/quantities.ts'

/** The keys that are not redefined in {@link resolveSettings} are as the schema describes them. */
export type Settings = DeepReadonly<ReturnType<typeof resolveSettings>>

/** The limits on the cost of runs in one day (UTC). At least one of the keys is present. */
export type Budget = NonNullable<Settings['agents']['budget']>
export type LogLevel = Settings['gateway']['log']['level']
/** The time from `from` until `to`, which may be on the next day: minutes after midnight. */
export type QuietHours = NonNullable<Settings['agents']['defaults']['heartbeat']['quietHours']>
/** The time of one call, the memory of one worker, and the number of concurrent calls of one module. */
export type TransformLimits = Settings['hooks']['transforms']['defaults']

/** `value` has passed its schema and all rules. */
export function resolveSettings(
  value: ConfigurationValue,
  /** The absolute path of the configuration file. */
  file: string,
  resolvePath: (path: string) => string,
) {
  const { gateway, hooks, history, deliveries, channels, sources, observers, plugins } = value
  const { auth, metrics, trustedProxies, ...gatewayRest } = gateway
  const {
    token,
    bodyTimeout,
    transforms,
    reload,
    presets,
    endpoints,
    mappings,
    [mailbox]: block,
    ...hooksRest
  } = hooks
  const { retryFor, ...deliveriesRest } = deliveries
  const { debounce, rest, ...reloadRest } = reload
  return {
    file,
    gateway: {
      ...gatewayRest,
      /** All of them are valid, and commands use the first; several during rotation. Empty: there is no admin API. */
      tokens: gatewayTokens(auth).map(({ token }) => token),
      /** Holder and right of the token at the same index of `tokens`. */
      holders: gatewayTokens(auth).map(({ name, may }) => ({ name, may })),
      /** Tokens that open the metrics alone. */
      metricsTokens: tokensAt([], metrics.token).map(({ token }) => token),
      /** The proxies whose reports about their clients' addresses are trusted. */
      trustedProxies: trustedProxies.flatMap((text) => parseAddressRange(text)),
      dataDir: resolvePath(gateway.dataDir),
    },
    hooks: {
      ...hooksRest,
      /** All of them are valid; several during rotation. */
      tokens: tokensAt([], token).map(({ token }) => token),
      /** Starts with `/` and has no trailing slash. */
      path: normalHookPath(hooks.path),
      ...(hooks.defaultSessionKey !== undefined && { defaultSessionKey: hooks.defaultSessionKey.trim() }),
      bodyTimeoutMs: parseDuration(bodyTimeout),
      mappingsDir: resolvePath(hooks.mappingsDir),
      transformsDir: resolvePath(hooks.transformsDir),
      transforms: transformLimits(transforms),
      reload: { ...reloadRest, debounceMs: parseDuration(debounce), restMs: parseDuration(rest) },
    },
    history: {
      bodies: history.bodies,
      keepMs: parseDuration(history.keep),
      ignoredMs: parseDuration(history.ignored),
      maxBodyBytes: parseByteSize(history.maxBodyBytes),
    },
    /** Milliseconds that a delivery is tried before it is parked, from its first attempt on. */
    deliveries: { ...deliveriesRest, retryForMs: parseDuration(retryFor) },
    agents: agentSettings(value.agents),
    channels,
    /** For the plugins to validate. */
    sources: { ...sources, ...mailboxSource(block) },
    observers,
    plugins: plugins.map((plugin) => (/^(?:\.{0,2}|~)[/\\]/.test(plugin) ? resolvePath(plugin) : plugin)),
  }
}

function agentSettings(agents: ConfigurationValue['agents']) {
  const { model, models, heartbeat, retry, ...defaults } = agents.defaults
  const { every, quietHours, ...heartbeatRest } = heartbeat
  const { idleExpiry, ...sessions } = agents.sessions
  const rules = modelRules(models)
  return {
    ...agents,
    runners: agents.runners as Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    defaults: {
      ...defaults,
      ...(model !== undefined && { model: namedModel(model, models) }),
      /** Absent: any model is allowed. */
      ...(rules && { models: rules }),
      /** The wait doubles from the first to the longest for each further attempt, give or take a third. */
      retry: {
        attempts: retry.attempts,
        firstMs: parseDuration(retry.backoff),
        maxMs: parseDuration(retry.maxBackoff),
      },
      heartbeat: {
        ...heartbeatRest,
        everyMs: parseDuration(every),
        prompt: heartbeat.prompt.replaceAll('{ackToken}', heartbeat.ackToken),
        ...(quietHours && {
          quietHours: { ...quietHours, from: minutesOf(quietHours.from), to: minutesOf(quietHours.to) },
        }),
      },
    },
    /** Milliseconds that a session with a generated key lives. */
    sessions: { ...sessions, idleMs: parseDuration(idleExpiry) },
  }
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

function transformLimits({ timeout, modules, ...limits }: ConfigurationValue['hooks']['transforms']) {
  /** Limits by module. `defaults` has those that are not set for a module. */
  const special = Object.entries(modules).map(([module, { timeout, ...rest }]) => [
    moduleName(module),
    { ...rest, ...(timeout !== undefined && { timeoutMs: parseDuration(timeout) }) },
  ])
  const defaults = { timeoutMs: parseDuration(timeout), ...limits }
  return {
    defaults,
    modules: Object.fromEntries(special) as Readonly<Record<string, Partial<typeof defaults>>>,
  }
}
