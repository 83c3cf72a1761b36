/** Hosts the transforms of all open candidates, with one set of workers for each bundle. */

import { url as inspectorUrl } from 'node:inspector'
import { nearestName } from '../../config/values/nearest.ts'
import { createThreadWatch } from '../../threads/watch.ts'
import { backgroundTimers, type Timers } from '../../timers.ts'
import type { LoadFailure, OpenedModule, OpenTransforms, TransformHost, TransformListener } from '../port.ts'
import type { OpenClawWord } from '../worker/openclaw.ts'
import type { ModuleExports } from '../worker/protocol.ts'
import { failure } from './call.ts'
import { createMask } from './mask.ts'
import { type CheckedModule, checkModules } from './module-check.ts'
import type { Loaded } from './module-worker.ts'
import { WorkerSet } from './worker-set.ts'
import { createWorkerThreads } from './worker-threads.ts'

export interface TransformHostOptions {
  readonly onEvent: TransformListener
  /** Default: the platform's. */
  readonly timers?: Timers
  /** Milliseconds that a module and everything at its top level may take to load. Default: 10,000. */
  readonly loadTimeoutMs?: number
  /** True if this process is being debugged; then there are no deadlines. Default: true while its inspector listens. */
  readonly isDebugged?: () => boolean
}

function isInspected(): boolean {
  return inspectorUrl() !== undefined
}

const openClawAdvice: Readonly<Record<OpenClawWord, string>> = {
  kind: 'answers `kind`, as for OpenClaw: it is read as `action`; write that instead',
  agentId:
    'answers `agentId`, as for OpenClaw: it is passed over; set `runner` in the mapping, or a `sessionKey`',
  sessionKeySource: 'answers `sessionKeySource`, as for OpenClaw: it is passed over; remove it',
  sessionMode:
    'answers `sessionMode`, as for OpenClaw: it is passed over; runs of one `sessionKey` share a conversation, and without one each has its own',
  allowUnsafeExternalContent:
    'answers `allowUnsafeExternalContent`, as for OpenClaw: it is passed over, and the boundary stays; set it in the mapping',
}

export function createTransformHost(options: TransformHostOptions): TransformHost {
  const { onEvent, timers = backgroundTimers, loadTimeoutMs = 10_000, isDebugged = isInspected } = options
  const sets = new Map<string, WorkerSet>()
  const watch = createThreadWatch(timers)
  const threads = createWorkerThreads(timers)
  const mask = createMask()
  const advised = new Set<string>()
  let isClosed = false

  function advise(module: string, word: OpenClawWord): void {
    const advice = `${module} ${word}`
    if (advised.has(advice)) return
    advised.add(advice)
    onEvent({ type: 'transform-output', module, level: 'warn', text: openClawAdvice[word] })
  }

  function workerOptions({ module, bundle: { file } }: OpenedModule, isDry: boolean) {
    return { file, isDry, module, timers, watch, mask, isDebugged, advise, loadTimeoutMs, onEvent }
  }

  /** Dry runs have workers of their own, which no snapshot holds. */
  function setOf(opened: OpenedModule, isDry = false): WorkerSet {
    const { digest } = opened.bundle
    const key = isDry ? `${digest} dry` : digest
    const existing = sets.get(key)
    if (existing) return existing
    const set = new WorkerSet({
      ...workerOptions(opened, isDry),
      threads,
      onEmpty() {
        if (sets.get(key) === set) sets.delete(key)
      },
    })
    sets.set(key, set)
    return set
  }

  async function check(unknown: readonly Wanted[], isOver: () => boolean): Promise<void> {
    const checked = unknown.map(({ opened }): CheckedModule => {
      return { ...workerOptions(opened, false), memoryMb: opened.limits.memoryMb }
    })
    let index = 0
    for await (const loaded of checkModules(checked, threads)) {
      const { set } = unknown[index++] as Wanted
      set.loaded = loaded
      if (isOver()) return
    }
  }

  return {
    open(modules, secrets = []) {
      mask.add(secrets)
      return openTransforms(modules, { setOf, check, isClosed: () => isClosed })
    },
    async close() {
      isClosed = true
      watch.close()
      await Promise.all([...sets.values()].map((set) => set.close()))
      await threads.close()
    },
  }
}

/** The host's functions for the transforms of one candidate. */
interface Hosting {
  readonly setOf: (opened: OpenedModule, isDry?: boolean) => WorkerSet
  readonly check: (unknown: readonly Wanted[], isOver: () => boolean) => Promise<void>
  readonly isClosed: () => boolean
}

interface Wanted {
  readonly opened: OpenedModule
  readonly set: WorkerSet
}

function openTransforms(
  modules: readonly OpenedModule[],
  { setOf, check, isClosed }: Hosting,
): OpenTransforms {
  const byName = new Map(modules.map((opened) => [opened.module, opened]))
  const held: WorkerSet[] = []
  let isReleased = false

  function release(): void {
    isReleased = true
    for (const set of held.splice(0)) set.release()
  }

  return {
    async start() {
      const sets = modules.map((opened) => ({ opened, set: setOf(opened) }))
      for (const { opened, set } of sets) {
        held.push(set)
        set.hold(opened.limits)
      }
      const unknown = sets.filter(({ set }) => set.loaded?.ok !== true)
      const isOver = () => isReleased || isClosed()
      // An edit changes one module, and its next call needs the worker that has loaded it.
      if (unknown.length === 1) await unknown[0]?.set.load()
      else await check(unknown, isOver)
      if (isOver()) return []
      const failures = sets.flatMap(({ opened, set }) => (set.loaded ? failuresOf(opened, set.loaded) : []))
      if (failures.length > 0) release()
      return failures
    },
    release,
    bind(module, exportName, parameters) {
      const opened = byName.get(module)
      if (!opened?.exports.includes(exportName)) return undefined
      const { limits } = opened
      return (given) =>
        new Promise((resolve, reject) => {
          if (isClosed()) {
            reject(failure(module, 'is called after the gateway stopped', 'TRANSFORM_BUSY'))
            return
          }
          const set = setOf(opened, given.dryRun === 'refuse')
          const isTest = given.onCall !== undefined || given.dryRun !== undefined
          set.call({ module, exportName, limits, given, parameters, isTest, resolve, reject })
        })
    },
  }
}

export function failuresOf(opened: OpenedModule, loaded: Loaded): readonly LoadFailure[] {
  const { module, place } = opened
  if (!loaded.ok) {
    const { error } = loaded
    const message = error.isSentence ? `${module} ${error.text}` : `${module} cannot be loaded: ${error.text}`
    return [{ module, message, place: error.place ?? place }]
  }
  const { others } = loaded.exports
  const functions = loaded.exports.functions.map(({ name }) => name)
  return opened.exports
    .filter((name) => !functions.includes(name))
    .map((exportName) => ({
      module,
      exportName,
      place,
      ...describeMissing(module, exportName, functions, others),
    }))
}

function describeMissing(
  module: string,
  name: string,
  functions: readonly string[],
  others: ModuleExports['others'],
) {
  const other = others.find((each) => each.name === name)
  if (other)
    return {
      message: `${module} exports ${other.type} as \`${name}\`, not a function`,
      hint: known(functions),
    }
  const nearest = nearestName(name, functions)
  const message =
    name === 'default' ? `${module} has no default export` : `${module} has no export \`${name}\``
  if (name === 'default' && functions.length === 0) {
    return { message, hint: 'Write `export default defineTransform(…)`.' }
  }
  const [only, second] = functions
  if (name === 'default' && only !== undefined && second === undefined) {
    const advice = `Write \`transform: { module: ${module}, export: ${only} }\`, or make it the default export.`
    return { message, hint: `${known(functions)} ${advice}` }
  }
  return {
    message,
    hint: nearest === undefined ? known(functions) : `Did you mean \`${nearest}\`? ${known(functions)}`,
  }
}

const maxNames = 20

function known(functions: readonly string[]): string {
  if (functions.length === 0) return 'It exports no function.'
  const names = functions.slice(0, maxNames).map((name) => `\`${name}\``)
  const more = functions.length - names.length
  return `It exports ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}
