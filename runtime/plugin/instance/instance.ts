/**
 * Starts one channel, runner or source from its configuration. Its holders share it, and it is closed when the last one releases it.
 *
 *   starting --setup--> running --last release, or close()--> closing --> closed
 *           \--throws or hangs--> closed
 *
 * Its holders are the sets that it belongs to (live, or a candidate) and the calls in flight: a reload closes an old instance only
 * after the turn or the message that it is busy with.
 */

import {
  type Channel,
  compileRedaction,
  createPluginFetch,
  type Observer,
  type Plugin,
  type Provided,
  type Provider,
  type Redact,
  type Runner,
  type Source,
} from '@reveille/kit'
import type { Logger } from 'pino'
import type { PluginConfiguration } from '../configuration/configuration.ts'
import { listOf, type ProvidedKind } from '../configuration/package.ts'
import type { Specification } from '../configuration/specify.ts'
import { defaultSetupTimeoutMs, importPlugin, inTime, setupProblem, setupRefusal } from './load.ts'
import { createPluginLog, redactError } from './redaction.ts'
import { shapeProblem } from './shapes.ts'

export interface InstanceOptions {
  readonly log: Logger
  readonly fetch: typeof fetch
  /** Milliseconds that the plugin's import may take, and then its `setup`; default 30,000. */
  readonly setupTimeoutMs?: number
  /** Milliseconds that the plugin's `close` may take; default 10,000. */
  readonly closeTimeoutMs?: number
  /** Aborted when the host closes, which ends the wait for a setup. */
  readonly closing?: AbortSignal
}

export interface Instance {
  readonly specification: Specification
  /** The part that the plugin provides. */
  readonly provided: Channel | Runner | Source | Provider | Observer
  /** Removes the secrets of the plugin from a text. */
  readonly redact: Redact
  /** Returns false if the instance is closed or closing, and cannot be held any more. */
  acquire(): boolean
  /** Resolves at once, or for the last holder when the plugin is closed. */
  release(): Promise<void>
  /** Closes the instance although it is held. Settles with `closed`. */
  close(): Promise<void>
  /** Resolves once the plugin is closed, or its time for that is over. Never rejects. */
  readonly closed: Promise<void>
}

/** The caller holds the instance that it gets. @throws PluginSetupError, after closing what was begun */
export async function startInstance(
  specification: Specification,
  { config, secrets }: PluginConfiguration,
  options: InstanceOptions,
): Promise<Instance> {
  const { id, key, kind, name } = specification
  const plugin = specification.package.name
  const redact = compileRedaction(secrets)
  const { log, setupTimeoutMs = defaultSetupTimeoutMs, closeTimeoutMs = 10_000 } = options
  const owner = { plugin, [kind]: name }
  const abort = new AbortController()

  async function shutDown(brought: Provided | undefined): Promise<void> {
    abort.abort(new Error(`The ${kind} ${name} is closed.`))
    try {
      const closing = (async () => brought?.close?.())()
      await inTime(closing, closeTimeoutMs, 'close')
      log.debug({ event: 'plugin-closed', ...owner })
    } catch (error) {
      log.warn({ event: 'plugin-close-failed', ...owner, err: redactError(error, redact) })
    }
  }

  async function setUp(loaded: Plugin): Promise<Provided> {
    const context = {
      config,
      log: createPluginLog(log, owner, redact),
      fetch: createPluginFetch({ fetch: options.fetch, log, owner, signal: abort.signal }),
      signal: abort.signal,
    }
    const setting = (async () => {
      loaded.check?.(config)
      return loaded.setup(context)
    })()
    try {
      return await inTime(setting, setupTimeoutMs, `setup of the plugin ${plugin}`, options.closing)
    } catch (error) {
      // A setup that was too slow may still bring something that has to be closed.
      setting.then(shutDown, () => {})
      abort.abort(error)
      throw setupRefusal(specification, setupProblem(error, specification, redact), redact, error)
    }
  }

  const brought = await setUp(await importPlugin(specification, redact, options))
  const wrong = offerProblem(brought)
  const provided =
    wrong === undefined ? offersOf(brought, kind)?.find((offer) => offer?.id === id) : undefined
  const problem = provided && shapeProblem(provided, kind)
  if (provided === undefined || problem !== undefined) {
    await shutDown(brought)
    const reason = wrong ?? (problem && `of the plugin's ${kind} ${id}, ${problem}`)
    const message =
      reason === undefined
        ? `needs a plugin that brings a ${kind} ${id}, and its setup brought none`
        : redact(`cannot be set up: ${reason}`)
    throw setupRefusal(specification, { key, message }, redact)
  }
  log.debug({ event: 'plugin-started', ...owner })

  let holders = 1
  let isOpen = true
  const closed = Promise.withResolvers<void>()
  function close(): Promise<void> {
    if (isOpen) shutDown(brought).then(closed.resolve)
    isOpen = false
    return closed.promise
  }
  return {
    specification,
    provided,
    redact,
    acquire() {
      if (isOpen) holders += 1
      return isOpen
    },
    async release() {
      holders -= 1
      if (holders === 0) await close()
    },
    close,
    closed: closed.promise,
  }
}

/** Checks the result of a setup before it is used, because plugins need not be typed. */
function offerProblem(brought: Provided | undefined): string | undefined {
  const { close, ...lists } = { ...brought }
  const wrong = Object.values(listOf).find((name) => lists[name] !== undefined && !Array.isArray(lists[name]))
  if (wrong !== undefined) return `its setup has to return \`${wrong}\` as a list`
  const isClosable = close === undefined || typeof close === 'function'
  return isClosable ? undefined : '`close`, which its setup returned, has to be a function'
}

function offersOf(brought: Provided | undefined, kind: ProvidedKind) {
  return brought?.[listOf[kind]] as readonly Instance['provided'][] | undefined
}
