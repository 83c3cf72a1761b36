/** Hosts transforms: bundles them into a folder, calls them in workers, and logs what they write. */

import { dirname } from 'node:path'
import {
  type CandidateParts,
  createBundler,
  createTransformHost,
  type TransformEvent,
  type TransformListener,
} from '@reveille/engine'

/** What the reporter needs of a log. */
export interface TransformLog {
  debug(facts: object, text?: string): void
  info(facts: object, text?: string): void
  warn(facts: object, text?: string): void
  error(facts: object, text?: string): void
}

export interface HostedTransforms {
  readonly parts: Required<Pick<CandidateParts, 'bundle' | 'openTransforms'>>
  /** Deletes the bundles whose digests are not needed. */
  sweep(needed: ReadonlySet<string>): Promise<void>
  /** Whether a worker did not end, so that its thread may keep the process alive. */
  isStuck(): boolean
  /** Ends every worker. Calls under way fail. */
  close(): Promise<void>
}

export interface HostedTransformsOptions {
  /** The folder of the bundles, made with the first one. */
  readonly folder: string
  readonly onEvent: TransformListener
}

/** Nothing is started before the first module is bundled. */
export function hostTransforms({ folder, onEvent }: HostedTransformsOptions): HostedTransforms {
  const bundler = createBundler({ folder })
  let isStuck = false
  const host = createTransformHost({
    onEvent(event) {
      isStuck ||= event.type === 'worker-abandoned'
      onEvent(event)
    },
  })
  return {
    parts: {
      bundle: (modules, { settings }) =>
        bundler.bundle({
          modules,
          transformsDir: settings.hooks.transformsDir,
          folder: dirname(settings.file),
        }),
      openTransforms: (modules, secrets) => host.open(modules, secrets),
    },
    sweep: (needed) => bundler.sweep(needed),
    isStuck: () => isStuck,
    async close() {
      await Promise.all([bundler.close(), host.close()])
    },
  }
}

/** The output of a module is logged at the level that it was written with. */
export function createTransformReporter(log: TransformLog): TransformListener {
  return (transformEvent: TransformEvent) => {
    const { type: event, ...facts } = transformEvent
    switch (transformEvent.type) {
      case 'transform-output': {
        const { module, requestId, level, text } = transformEvent
        log[level]({ event, module, ...(requestId !== undefined && { requestId }) }, text)
        return
      }
      case 'transform-output-dropped':
        log.warn({ event, ...facts }, 'the module writes more than the log takes')
        return
      case 'worker-lost':
        log.warn({ event, ...facts }, 'a worker ended by itself; its module goes on in another')
        return
      case 'worker-abandoned':
        log.error({ event, ...facts }, 'a worker does not end; it is left to itself')
    }
  }
}
