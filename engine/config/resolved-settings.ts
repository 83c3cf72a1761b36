/** Turns a checked value into settings: absolute paths, milliseconds, and the few names that differ from the file's. */

import { parseAddressRange } from './address-range.ts'
import { parseByteSize } from './byte-size.ts'
import { parseDuration } from './duration.ts'
import { moduleName } from './mapping/module-name.ts'
import { wholeSubscription } from './rules/mailbox-rules.ts'
import { modelRules, namedModel } from './rules/models.ts'
import { gatewayTokens, hookTokens, metricsTokens, normalHookPath } from './rules/rules.ts'
import { type ConfigurationValue, isOfGmailPreset } from './schema/configuration-schema.ts'
import { foreignKeys } from './schema/foreign-keys.ts'
import type { QuietHours, Settings } from './settings.ts'

/** `value` has passed its schema and all rules. */
export function resolveSettings(
  value: ConfigurationValue,
  file: string,
  resolvePath: (path: string) => string,
): Settings {
  const { gateway, hooks, history, agents, deliveries, channels, sources, plugins } = value
  const { auth, metrics, ...gatewayRest } = gateway
  const { token, bodyTimeout, transforms, reload, presets, endpoints, mappings, gmail, ...hooksRest } = hooks
  const { model, models, heartbeat, retry, ...defaults } = agents.defaults
  const { every, quietHours, ...heartbeatRest } = heartbeat
  const { idleExpiry, ...sessions } = agents.sessions
  const { retryFor, ...deliveriesRest } = deliveries
  const { debounce, rest, ...reloadRest } = reload
  const rules = modelRules(models)
  return {
    file,
    gateway: {
      ...gatewayRest,
      tokens: gatewayTokens(auth).map(({ token }) => token),
      holders: gatewayTokens(auth).map(({ name, may }) => ({ name, may })),
      metricsTokens: metricsTokens(metrics.token).map(({ token }) => token),
      trustedProxies: gateway.trustedProxies.flatMap((text) => parseAddressRange(text)),
      dataDir: resolvePath(gateway.dataDir),
      log: { ...gateway.log },
      limits: { ...gateway.limits },
      issues: { ...gateway.issues },
    },
    hooks: {
      ...hooksRest,
      tokens: hookTokens(token).map(({ token }) => token),
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
    deliveries: { ...deliveriesRest, retryForMs: parseDuration(retryFor) },
    agents: {
      ...agents,
      defaults: {
        ...defaults,
        ...(model === undefined ? {} : { model: namedModel(model, models) }),
        ...(rules && { models: rules }),
        retry: {
          attempts: retry.attempts,
          firstMs: parseDuration(retry.backoff),
          mostMs: parseDuration(retry.maxBackoff),
        },
        heartbeat: {
          ...heartbeatRest,
          everyMs: parseDuration(every),
          prompt: heartbeat.prompt.replaceAll('{ackToken}', heartbeat.ackToken),
          ...(quietHours && { quietHours: resolveQuietHours(quietHours) }),
        },
      },
      sessions: { ...sessions, idleMs: parseDuration(idleExpiry) },
      ...(agents.budget && { budget: { ...agents.budget } }),
      ...(agents.route && { route: { ...agents.route } }),
    },
    channels,
    sources: { ...sources, ...gmailSource(gmail) },
    plugins: plugins.map((plugin) => (/^(?:\.{0,2}|~)[/\\]/.test(plugin) ? resolvePath(plugin) : plugin)),
  }
}

/** Returns undefined if no mailbox is watched. */
function gmailSource(gmail: ConfigurationValue['hooks']['gmail']): Settings['sources'] {
  const mailbox = Object.entries(gmail).filter(
    ([key]) => !isOfGmailPreset(key) && !Object.hasOwn(foreignKeys, `hooks.gmail.${key}`),
  )
  if (mailbox.length === 0) return {}
  const subscription = wholeSubscription(gmail)
  return { gmail: { ...Object.fromEntries(mailbox), ...(subscription !== undefined && { subscription }) } }
}

function resolveQuietHours(hours: { from: string; to: string; timezone: string }): QuietHours {
  return { from: minutesOf(hours.from), to: minutesOf(hours.to), timezone: hours.timezone }
}

function minutesOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}

function transformLimits({
  timeout,
  memoryMb,
  concurrency,
  modules,
}: ConfigurationValue['hooks']['transforms']): Settings['hooks']['transforms'] {
  const special = Object.entries(modules).map(([module, { timeout, ...rest }]) => [
    moduleName(module),
    { ...rest, ...(timeout !== undefined && { timeoutMs: parseDuration(timeout) }) },
  ])
  return {
    defaults: { timeoutMs: parseDuration(timeout), memoryMb, concurrency },
    modules: Object.fromEntries(special),
  }
}
