/** Owns a host's transforms: bundled into a folder, called in workers, and what they say told in the log. */

import { dirname } from 'node:path'
import {
  type CandidateParts,
  createBundler,
  createTransformHost,
  type TransformEvent,
  type TransformListener,
} from '@reveille/engine'

/** The part of a log that is needed. */
export interface TransformLog {
  debug(facts: object, text?: string): void
  info(facts: object, text?: string): void
  warn(facts: object, text?: string): void
  error(facts: object, text?: string): void
}

export interface HostedTransforms {
  readonly parts: Required<Pick<CandidateParts, 'bundle' | 'openTransforms'>>
  /** Deletes bundles that none of these digests names. */
  sweep(needed: ReadonlySet<string>): Promise<void>
  /** Whether a worker did not end: its thread may keep the process from ending by itself. */
  isStuck(): boolean
  /** Ends every worker; calls under way fail. */
  close(): Promise<void>
}

export interface HostedTransformsOptions {
  /** Where bundles are kept; made when the first is. */
  readonly folder: string
  readonly onEvent: TransformListener
}

/** Starts nothing before the first module is bundled. */
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

/** What a module writes is its developer's affair, at the level that it was written with. */
export function createTransformReporter(log: TransformLog): TransformListener {
  return (told: TransformEvent) => {
    const { type: event, ...facts } = told
    switch (told.type) {
      case 'transform-output': {
        const { module, requestId, level, text } = told
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
