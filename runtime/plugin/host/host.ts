/** Keeps the live channels, runners and sources, and changes them from one snapshot to the next. */

import { isDeepStrictEqual } from 'node:util'
import type { Catalog, Settings, Snapshot } from '@reveille/engine'
import { type Channel, type Observer, PluginError, type Runner } from '@reveille/kit'
import { onceForEach } from '../../once-for-each.ts'
import type { AddressRules } from '../configuration/addresses.ts'
import {
  configureAll,
  type PluginConfiguration,
  parsePluginConfiguration,
} from '../configuration/configuration.ts'
import { asFileUrl, createDirectory, type Directory } from '../configuration/directory.ts'
import { byKind, type ProvidedKind } from '../configuration/package.ts'
import { type PluginProblem, PluginSetupError, throwJoined } from '../configuration/setup-error.ts'
import {
  catalogOf,
  type Inheritance,
  isSet,
  locate,
  referenceTo,
  type Specification,
  specify,
} from '../configuration/specify.ts'
import { type Instance, type InstanceOptions, startInstance } from '../instance/instance.ts'
import {
  createChannelHandle,
  createProviderHandle,
  createRunnerHandle,
  createSourceHandle,
  type LiveProvider,
  type LiveSource,
  redacting,
} from './handles.ts'
import { checkModels, type RefusedModel } from './models.ts'

export interface PluginHostOptions
  extends Pick<InstanceOptions, 'log' | 'setupTimeoutMs' | 'closeTimeoutMs'> {
  /** Default: that of the platform. */
  readonly fetch?: typeof fetch
  /**
   * Packages are found as an import from this file would find them. A file URL or an absolute path. Default: this module, or the bundle
   * that holds it.
   */
  readonly resolveFrom?: string | URL
}

/** The part of a snapshot that plugins depend on. */
export interface PluginSnapshot {
  readonly settings: Pick<Settings, 'agents' | 'channels' | 'plugins' | 'sources' | 'observers'>
  /** The policies by name, whose budgets in US dollars need runners that count tokens. */
  readonly endpoints?: Snapshot['endpoints']
}

export type PluginHost = ReturnType<typeof createPluginHost>

/** Exactly one of `commit` and `discard` is called. */
export interface PreparedPlugins {
  /** The address rule of a channel of the candidate. */
  readonly addresses: AddressRules
  /** Programs and files that the candidate's runners miss on this machine. */
  readonly lacking: readonly PluginProblem[]
  /** Swaps in one step. Old instances close by themselves after their last call in flight. */
  commit(): void
  /** Resolves when what was started for the candidate is closed. */
  discard(): Promise<void>
}

/** The running instances that one snapshot needs; the set holds them. */
interface PluginSet {
  readonly directory: Directory
  readonly instances: ReadonlyMap<string, Instance>
  /** Installed runners without configuration, which start at their first use. */
  readonly late: Map<string, Promise<Instance>>
  /** The late runners that have started. */
  readonly lateStarted: Map<string, Instance>
  /** The keys that late runners inherit. */
  readonly agents: Inheritance
}

const nothing: PluginSet = {
  directory: { names: byKind(() => []), find: () => undefined },
  instances: new Map(),
  late: new Map(),
  lateStarted: new Map(),
  agents: { providers: {} },
}

export function createPluginHost(options: PluginHostOptions) {
  const from = asFileUrl(options.resolveFrom ?? import.meta.url)
  const starter = createStarter(options)
  const listeners: (() => void)[] = []
  const sourceHandleOf = onceForEach(createSourceHandle)
  const providerHandleOf = onceForEach(createProviderHandle)
  let live = nothing
  const prepare = createPreparation({
    ...{ log: options.log, from, starter, live: () => live },
    commit(next) {
      const old = starter.isClosing() ? next : live
      if (old !== next) live = next
      void releaseAll(old)
      for (const listener of listeners) listener()
    },
  })

  function findLive(kind: ProvidedKind, name: string): Instance {
    const instance = live.instances.get(slotOf(kind, name))
    if (instance !== undefined) return instance
    const retryable = starter.isClosing()
    throw new PluginError(`The ${kind} ${name} is not configured.`, { code: 'not-configured', retryable })
  }

  function runningOf(kind: ProvidedKind): readonly Instance[] {
    return [...live.instances.values()].filter(({ specification }) => specification.kind === kind)
  }

  const isLate = (name: string) =>
    !live.instances.has(slotOf('runner', name)) && live.directory.names.runner.includes(name)

  return {
    /** Returns the names that exist. Runs no plugin code. @throws PluginSetupError for what is configured and cannot be found */
    catalog(settings: PluginSnapshot['settings']): Catalog {
      const directory = createDirectory(settings, from)
      // `specify` throws for what is missing, before its name is used.
      return catalogOf(directory, specify(settings, directory))
    },
    prepare,
    /** The handle stays good across reloads. Undefined for a name that is neither configured nor that of an installed runner. */
    runner(name: string): Runner | undefined {
      if (!live.instances.has(slotOf('runner', name)) && !isLate(name)) return undefined
      const find = () => (isLate(name) ? startLate(name, live, starter) : findLive('runner', name))
      return createRunnerHandle(name, { find, peek: () => runnerOf(live, name) })
    },
    /**
     * True if the runner of that name passes the events of the main session on instead of answering them. Its manifest says so, and
     * nothing is started. False for a name that no runner has.
     */
    relays(name: string): boolean {
      const running = live.instances.get(slotOf('runner', name))?.specification.package
      if (running !== undefined) return running.relays
      return isLate(name) && live.directory.find('runner', name, `agents.runners.${name}`)?.relays === true
    },
    /** The handle stays good across reloads. Undefined for a channel that is not configured. */
    channel(name: string): Channel | undefined {
      const exists = live.instances.has(slotOf('channel', name))
      return exists ? createChannelHandle(name, () => findLive('channel', name)) : undefined
    },
    /** The configured sources. Each instance has one object, and must be run by one caller at a time. */
    sources: (): readonly LiveSource[] => runningOf('source').map(sourceHandleOf),
    /** The providers that are caught up. Each instance has one object. */
    providers: (): readonly LiveProvider[] => runningOf('provider').map(providerHandleOf),
    /** The observers of finished work. */
    observers: (): readonly Observer[] => runningOf('observer').map(({ provided }) => provided as Observer),
    /** The listener is called after each commit, when `channel`, `runner` and `sources` find the new instances. */
    onCommitted: (listener: () => void) => void listeners.push(listener),
    /** Closes everything, calls in flight included; their callers have to drain before. Never rejects. */
    async close(): Promise<void> {
      live = nothing
      await starter.close()
    },
  }
}

type Starter = ReturnType<typeof createStarter>

/** Starts instances, and closes all that are not closed yet. */
function createStarter(options: PluginHostOptions) {
  const closing = new AbortController()
  const instanceOptions = { ...options, fetch: options.fetch ?? lazyFetch, closing: closing.signal }
  /** Every start that was not followed by a close yet. */
  const started = new Set<Promise<Instance>>()
  return {
    isClosing: () => closing.signal.aborted,
    throwIfClosing: () => closing.signal.throwIfAborted(),
    start(specification: Specification, configuration: PluginConfiguration, isDryRun = false) {
      const setupOptions = isDryRun ? { ...instanceOptions, fetch: noFetch } : instanceOptions
      const starting = startInstance(specification, configuration, setupOptions)
      started.add(starting)
      starting.then(
        (instance) => instance.closed.then(() => started.delete(starting)),
        () => started.delete(starting),
      )
      return starting
    },
    async close(): Promise<void> {
      closing.abort(new Error('The gateway is closing.'))
      await Promise.allSettled([...started].map(async (starting) => (await starting).close()))
    },
  }
}

interface PreparationOptions extends Pick<PluginHostOptions, 'log'> {
  readonly from: URL
  readonly starter: Starter
  readonly live: () => PluginSet
  readonly commit: (next: PluginSet) => void
}

function createPreparation({ log, from, starter, live, commit }: PreparationOptions) {
  function isRunning(wanted: Specification): boolean {
    const running = live().instances.get(slotOf(wanted.kind, wanted.name))?.specification
    return (
      running !== undefined &&
      running.id === wanted.id &&
      running.package.entry.href === wanted.package.entry.href &&
      isDeepStrictEqual(running.rawConfig, wanted.rawConfig)
    )
  }

  /**
   * Starts what the snapshot configures and what does not run with that configuration yet. Nothing live changes before `commit`. In a dry
   * run the started instances reach nobody. Those with a reference that is not set are left out.
   * @throws PluginSetupError, after closing what was begun
   */
  return async function prepare(
    snapshot: PluginSnapshot,
    { isDryRun = false } = {},
  ): Promise<PreparedPlugins> {
    const { settings } = snapshot
    starter.throwIfClosing()
    const directory = createDirectory(settings, from)
    const specifications = Map.groupBy(
      specify(settings, directory, snapshot.endpoints).filter(isSet),
      isRunning,
    )
    const missing = configureAll(specifications.get(false) ?? [])

    const instances = new Map<string, Instance>()
    for (const { kind, name } of specifications.get(true) ?? []) {
      const instance = live().instances.get(slotOf(kind, name))
      if (instance?.acquire()) instances.set(slotOf(kind, name), instance)
    }
    const { agents } = settings
    const next: PluginSet = { directory, instances, late: new Map(), lateStarted: new Map(), agents }
    const outcomes = await Promise.allSettled(missing.map((each) => starter.start(...each, isDryRun)))
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') continue
      const { kind, name } = outcome.value.specification
      instances.set(slotOf(kind, name), outcome.value)
    }
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    const refused = errors.length > 0 ? [] : refusedModels(agents.defaults, next, errors)
    if (errors.length === 0) errors.push(...runnersWithoutTokens(snapshot, next))
    if (errors.length > 0) await releaseAll(next)
    throwJoined(errors)

    return {
      lacking: await lackingIn(next),
      addresses(name) {
        const instance = instances.get(slotOf('channel', name))
        return instance && ((to) => redacting(instance, (channel) => channel.target(to)))
      },
      commit() {
        for (const each of refused) {
          const facts = { event: 'model-refused', runner: agents.defaults.runner, ...each }
          log.warn(facts, 'the default runner does not take a model that is allowed')
        }
        commit(next)
      },
      discard: () => releaseAll(next),
    }
  }
}

/** A mapping, or a run accepted earlier, may name a runner that is not configured: it starts when it is used. */
function startLate(
  name: string,
  { directory, agents, late, lateStarted }: PluginSet,
  starter: Starter,
): Promise<Instance> {
  const known = late.get(name)
  if (known !== undefined) return known
  const key = `agents.runners.${name}`
  const starting = (async () => {
    try {
      const specification = locate(referenceTo('runner', name, {}, key), directory, agents)
      return await starter.start(specification, parsePluginConfiguration(specification))
    } catch (cause) {
      throw new PluginError(
        `The runner ${name} cannot be used without configuration; give it one under ${key}.`,
        { code: 'not-configured', retryable: starter.isClosing(), cause },
      )
    }
  })()
  late.set(name, starting)
  starting.then(
    (instance) => lateStarted.set(name, instance),
    () => late.delete(name),
  )
  return starting
}

function runnerOf({ instances, lateStarted }: PluginSet, name: string): Instance | undefined {
  return instances.get(slotOf('runner', name)) ?? lateStarted.get(name)
}

/** Returns the models that are refused, and adds to the errors if the default model is refused. */
function refusedModels(
  defaults: Settings['agents']['defaults'],
  set: PluginSet,
  errors: unknown[],
): readonly RefusedModel[] {
  const runner = runnerOf(set, defaults.runner)
  try {
    return runner === undefined ? [] : checkModels(defaults, runner)
  } catch (error) {
    errors.push(error)
    return []
  }
}

/**
 * A budget in US dollars cannot count the turns of a runner that reports no tokens. The runner of a mapping that is not configured is
 * only known once it has started; its runs are parked then.
 */
function* runnersWithoutTokens(
  { settings: { agents }, endpoints = {} }: PluginSnapshot,
  set: PluginSet,
): Iterable<PluginSetupError> {
  const inPolicy = Object.keys(endpoints).find((name) => endpoints[name]?.budget?.usd !== undefined)
  const isForAll = agents.budget?.usd !== undefined
  if (!isForAll && inPolicy === undefined) return
  const key = isForAll ? 'agents.budget.usd' : `hooks.endpoints.${inPolicy}.budget.usd`
  const names = new Set([agents.defaults.runner, ...(isForAll ? Object.keys(agents.runners) : [])])
  for (const name of names) {
    const instance = runnerOf(set, name)
    if (instance === undefined || (instance.provided as Runner).countsTokens === true) continue
    const message = `counts what turns cost, and the runner ${name} reports no tokens`
    const hint = 'Write `runs` there, or name a runner that counts tokens.'
    yield new PluginSetupError('PLUGIN_CONFIG', instance.specification.package.name, [{ key, message, hint }])
  }
}

async function releaseAll({ instances, late }: PluginSet): Promise<void> {
  await Promise.allSettled(
    [...instances.values(), ...late.values()].map(async (each) => (await each).release()),
  )
}

/** Programs and files that started runners miss on this machine. */
async function lackingIn({ instances }: PluginSet): Promise<readonly PluginProblem[]> {
  const runners = [...instances.values()].filter(({ specification }) => specification.kind === 'runner')
  const answers = runners.map(async ({ specification: { key }, provided, redact }) => {
    const lack = await (provided as Runner).check?.().catch((error: Error) => error.message)
    return lack === undefined ? [] : [{ key, message: `cannot run: ${redact(lack).replace(/\.$/, '')}` }]
  })
  return (await Promise.all(answers)).flat()
}

/** Fails as for a service that is down. */
const noFetch: typeof fetch = () => {
  const cause = Object.assign(new Error('a dry run reaches nobody'), { code: 'DRY_RUN', syscall: 'connect' })
  return Promise.reject(new TypeError('fetch failed', { cause }))
}

/** Node.js loads its fetch when the global is first read, which takes 10 MB that a gateway without such plugins does not need. */
const lazyFetch: typeof fetch = (input, init) => globalThis.fetch(input, init)

function slotOf(kind: ProvidedKind, name: string): string {
  return `${kind} ${name}`
}
