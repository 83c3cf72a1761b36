/** Hosts modules that were bundled for real; used by tests only. */

import assert from 'node:assert/strict'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type { TransformLimits } from '../../config/settings.ts'
import { createTransforms } from '../bundle/fixture.ts'
import {
  type LoadFailure,
  type OpenedModule,
  type OpenTransforms,
  type TransformAnswer,
  type TransformCall,
  TransformError,
  type TransformEvent,
} from '../port.ts'
import { createTransformHost, type TransformHostOptions } from './host.ts'

export interface HostedOptions extends Partial<Omit<TransformHostOptions, 'onEvent'>> {
  readonly limits?: Partial<TransformLimits>
  /** The exports by module. Default: `default` alone. */
  readonly exports?: Readonly<Record<string, readonly string[]>>
}

/** @param modules their texts, by file name */
export async function createHosted(
  t: Pick<TestContext, 'after'>,
  modules: Readonly<Record<string, string>>,
  { limits: commonLimits, exports = {}, ...options }: HostedOptions = {},
) {
  const inFolder = (files: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`transforms/${name}`, text]))
  const transforms = await createTransforms(t, inFolder(modules))
  const events: TransformEvent[] = []
  const listeners = new Set<() => void>()
  const host = createTransformHost({
    ...options,
    onEvent(event) {
      events.push(event)
      for (const listener of listeners) listener()
    },
  })
  t.after(() => host.close())

  /** Resolves with the first event, past or to come, that `is` accepts. */
  function event(is: (event: TransformEvent) => boolean): Promise<TransformEvent> {
    const { promise, resolve, reject } = Promise.withResolvers<TransformEvent>()
    const timer = setTimeout(() => reject(new Error(`not among ${JSON.stringify(events)}`)), 30_000)
    const look = () => {
      const found = events.find(is)
      if (found === undefined) return
      clearTimeout(timer)
      resolve(found)
    }
    listeners.add(look)
    look()
    return promise
  }

  /** Bundles modules as they are now, and opens them. */
  async function open(
    names: readonly string[],
    limits?: Partial<TransformLimits>,
    secrets?: readonly string[],
  ) {
    const bundled = await transforms.bundle(...names)
    assert.ok(bundled.ok, JSON.stringify(bundled, null, 2))
    const opened = names.map((module): OpenedModule => {
      const place = { file: path.join(transforms.folder, 'reveille.yaml'), line: 7, column: 20, text: '' }
      const all = { timeoutMs: 20_000, memoryMb: 128, concurrency: 4, ...commonLimits, ...limits }
      const bundle = bundled.bundles.get(module) ?? assert.fail(module)
      return { module, bundle, exports: exports[module] ?? ['default'], place, limits: all }
    })
    return host.open(opened, secrets)
  }
  const write = (files: Readonly<Record<string, string>>) => transforms.write(inFolder(files))
  return { host, folder: transforms.folder, events, event, write, open }
}

/** The same, with all of its modules opened and started. */
export async function createServing(
  t: Pick<TestContext, 'after'>,
  modules: Readonly<Record<string, string>>,
  options?: HostedOptions,
) {
  const hosted = await createHosted(t, modules, options)
  const open = await hosted.open(Object.keys(modules))
  assert.deepEqual(await open.start(), [] satisfies readonly LoadFailure[])
  const call = (module: string, given?: Given, exportName = 'default') =>
    callOne(open, module, given, exportName)
  return { ...hosted, opened: open, call }
}

/** Parts of a call; `payload` becomes the body. */
export type Given = Partial<TransformCall> & { readonly payload?: unknown }

export function callOne(
  open: OpenTransforms,
  module: string,
  { payload, ...given }: Given = {},
  exportName = 'default',
): Promise<TransformAnswer> {
  const transform = open.bind(module, exportName)
  assert.ok(transform, `${module} has ${exportName}`)
  return transform({
    ...{ requestId: undefined, unwrapped: undefined, form: undefined, item: undefined, index: undefined },
    rawBody: Buffer.from(payload === undefined ? '' : JSON.stringify(payload)),
    ...{ headers: {}, query: {}, path: 'hook', params: {}, vars: {}, now: 0 },
    base: { action: 'agent' },
    maxAnswerBytes: 262_144,
    ...given,
  })
}

/** The answer of a call with one field. */
export const answerOf = (value: unknown, field = 'message') => ({
  kind: 'one',
  action: { [field]: { value } },
})

/** Returns the value of one field of an answer. */
export function fieldOf(answer: TransformAnswer, field = 'message'): unknown {
  assert.ok(answer.kind === 'one' && answer.action?.[field] && 'value' in answer.action[field])
  return answer.action[field].value
}

/** The error of a call that must fail. */
export async function failureOf(answered: Promise<TransformAnswer>): Promise<TransformError> {
  const error = await answered.then(
    (answer) => assert.fail(`it answered ${JSON.stringify(answer)}`),
    (caught: unknown) => caught,
  )
  assert.ok(error instanceof TransformError, String(error))
  return error
}

/** `file:line:column` and the line, the file by its name. */
export function shownPlace({ place }: { readonly place?: TransformError['place'] }): string | undefined {
  return place && `${path.basename(place.file)}:${place.line}:${place.column} ${place.text.trim()}`
}
