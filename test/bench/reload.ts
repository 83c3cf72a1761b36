/** Measures a reload from saving a file to serving it, and how long it holds the event loop. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Bed, Comparison } from './measure.ts'

export interface ReloadCase {
  readonly mappings: number
  readonly perFile: number
  /** The edited file. */
  readonly edited: 'mapping' | 'transform'
}

export type Edit = Readonly<
  Record<
    /** From before the file is written to the event that it is live, the wait for further edits included. */
    | 'savedMs'
    /** From the start of loading to that event. */
    | 'reloadMs'
    /** Maximum time without a timer running. */
    | 'heldMs'
    /** From nothing to a gateway that serves. */
    | 'startMs',
    number
  >
>

const cases: Readonly<Record<string, ReloadCase>> = {
  'a mapping of 10': { mappings: 10, perFile: 10, edited: 'mapping' },
  'a mapping of 1,000': { mappings: 1_000, perFile: 10, edited: 'mapping' },
  'a mapping of 10,000': { mappings: 10_000, perFile: 10, edited: 'mapping' },
  'a mapping of 1,000 in one file': { mappings: 1_000, perFile: 1_000, edited: 'mapping' },
  'a transform, 10 mappings': { mappings: 10, perFile: 10, edited: 'transform' },
  'a transform, 1,000 mappings': { mappings: 1_000, perFile: 10, edited: 'transform' },
}
/** Edits before the first that counts. */
const warmups = 3

export const reloadComparison: Comparison = {
  name: 'reload',
  compared: 'savedMs',
  variants: Object.keys(cases),
  rounds: 10,
  openSeconds: 25,
  sampleSeconds: 0.6,
  open,
}

/** Each case has a gateway in a process of its own. */
async function open(): Promise<Bed> {
  const gateways = new Map<string, { readonly child: ChildProcess; readonly exit: Promise<unknown> }>()
  const take = async (name: string) => {
    const { child, exit } = gateways.get(name) as NonNullable<ReturnType<typeof gateways.get>>
    const answer = once(child, 'message')
    child.send('edit')
    const made = await Promise.race([answer, exit.then(() => undefined)])
    if (made === undefined) throw new Error(`the gateway of "${name}" ended with ${child.exitCode}`)
    return made[0] as Edit
  }
  const close = async () => {
    for (const { child, exit } of gateways.values()) {
      if (child.connected) child.disconnect()
      await exit
    }
  }
  const program = fileURLToPath(new URL('./reload-gateway.ts', import.meta.url))
  try {
    for (const [name, each] of Object.entries(cases)) {
      const child = fork(program, [JSON.stringify(each)])
      gateways.set(name, { child, exit: once(child, 'exit') })
      for (let edit = 0; edit < warmups; edit++) await take(name)
    }
  } catch (error) {
    await close()
    throw error
  }
  return { take, close }
}
