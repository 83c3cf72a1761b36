/** Keeps generations in memory until the process ends. */

import {
  type GenerationArchive,
  type GenerationContent,
  type GenerationRecord,
  isRefusedAgain,
  keptGenerations,
  type Rollback,
} from './generation.ts'

interface Kept {
  readonly record: GenerationRecord & { readonly generation: number }
  readonly content: GenerationContent
}

export function createMemoryArchive(): GenerationArchive {
  let kept: readonly Kept[] = []
  let rejected: readonly GenerationRecord[] = []
  let next = 1
  let held: Rollback | undefined

  return {
    list: () => newestFirst([...kept.map(({ record }) => record), ...rejected]),
    numberOf: (digest) => kept.find(({ content }) => content.digest === digest)?.record.generation ?? next,
    keep(record, content) {
      next = Math.max(next, record.generation + 1)
      const others = kept.filter((each) => each.record.generation !== record.generation).map(retired)
      kept = [{ record, content }, ...others].slice(0, keptGenerations)
    },
    note(record) {
      const [last, ...earlier] = rejected
      rejected = [record, ...(last && isRefusedAgain(last, record) ? earlier : rejected)].slice(
        0,
        keptGenerations,
      )
    },
    read: async (generation) => kept.find(({ record }) => record.generation === generation)?.content,
    rollback: () => held,
    setRollback(rollback) {
      held = rollback
    },
  }
}

function retired({ record, content }: Kept): Kept {
  return { record: { ...record, state: 'retired' }, content }
}

/** Of two records with the same time, the one that went live comes first, because a refusal comes after it. */
export function newestFirst(records: readonly GenerationRecord[]): GenerationRecord[] {
  return records.toSorted((one, other) => other.at - one.at)
}
