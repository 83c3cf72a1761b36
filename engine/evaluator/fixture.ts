/** Makes contained snapshots for tests. */

import type { TestContext } from 'node:test'
import { createCompiler } from '../compile/compile-snapshot.ts'
import type { Fixture, Mapping } from '../compile/fixture.ts'
import { catalog, configurationOf, countingRandomness } from '../compile/fixture.ts'
import type { Snapshot } from '../compile/snapshot.ts'
import { realTimers } from '../timers.ts'
import { containSnapshot } from './contained-snapshot.ts'
import { createEvaluators, type Evaluators } from './evaluators.ts'

export function evaluatorsOf(context: TestContext): Evaluators {
  const evaluators = createEvaluators({ timers: realTimers })
  context.after(() => evaluators.close())
  return evaluators
}

/** @throws Error if the mappings do not compile */
export async function containedOf(
  evaluators: Evaluators,
  mappings: readonly Mapping[],
  fixture?: Fixture,
): Promise<Snapshot> {
  const configuration = configurationOf(mappings, fixture)
  const randomness = countingRandomness()
  const transforms = { bind: (module: string) => fixture?.transforms?.[module] }
  const compiled = await createCompiler({ randomness }).compile(configuration, catalog, transforms)
  if (!compiled.ok) throw new Error(compiled.diagnostics[0]?.message)
  return containSnapshot(compiled, { configuration, catalog, evaluators, mint: randomness.mint })
}

/** Makes timers that a test fires, all those of one length together. */
export function createManualTimers() {
  const waiting = new Map<object, { readonly callback: () => void; readonly ms: number }>()
  return {
    setTimeout: (callback: () => void, ms: number) => {
      const timer = {}
      waiting.set(timer, { callback, ms })
      return timer
    },
    clearTimeout: (timer: unknown) => void waiting.delete(timer as object),
    fire: (ms: number) => {
      for (const [timer, { callback, ms: own }] of waiting)
        if (own === ms && waiting.delete(timer)) callback()
    },
  }
}
