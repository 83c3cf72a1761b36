/** Hosts transforms: bundles them into a folder, calls them in workers, and logs what they write. */

import { dirname } from 'node:path'
import {
  type CandidateParts,
  createBundler,
  createTransformHost,
  type TransformEvent,
  type TransformListener,
} from '@reveille/engine'
import type { Logger } from 'pino'

export interface HostedTransformsOptions {
  /** The folder of the bundles, made with the first one. */
  readonly folder: string
  readonly onEvent: TransformListener
}

/** Nothing is started before the first module is bundled. */
export function hostTransforms({ folder, onEvent }: HostedTransformsOptions) {
  const bundler = createBundler({ folder })
  let isStuck = false
  const host = createTransformHost({
    onEvent(event) {
      isStuck ||= event.type === 'worker-abandoned'
      onEvent(event)
    },
  })
  const parts: Required<Pick<CandidateParts, 'bundle' | 'openTransforms'>> = {
    bundle: (modules, { settings: { file, hooks } }) =>
      bundler.bundle({ modules, transformsDir: hooks.transformsDir, folder: dirname(file) }),
    openTransforms: (modules, secrets) => host.open(modules, secrets),
  }
  return {
    parts,
    /** Deletes the bundles whose digests are not needed. */
    sweep: (needed: ReadonlySet<string>) => bundler.sweep(needed),
    /** True if a worker did not end, so that its thread may keep the process alive. */
    isStuck: () => isStuck,
    /** Ends every worker. Calls under way fail. */
    async close() {
      await Promise.all([bundler.close(), host.close()])
    },
  }
}

/** The output of a module is logged at the level that it was written with. */
export function createTransformReporter(log: Logger): TransformListener {
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
        log.error({ event, ...facts }, 'a worker does not end; its place stays taken')
    }
  }
}
