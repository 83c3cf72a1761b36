/** What loads leave to later ones, so that what did not change is neither parsed, checked nor compiled again. */

import { isDeepStrictEqual } from 'node:util'
import { freezeDeep } from './freeze-deep.ts'

/**
 * Two earlier loads are asked, the last one and the last that gave a configuration, so that an edit which is taken back
 * costs nothing; what neither of them noted is forgotten.
 */
export interface LoadCache {
  /** What earlier loads noted, the last one's first. */
  lookUp<Made>(kind: string, name: string): readonly Made[]
  note(kind: string, name: string, made: unknown): void
  /** Frozen; the very tree that an earlier load kept under this name, if it says the same. */
  keep<Tree extends object>(kind: string, name: string, tree: Tree): Tree
}

type Notes = ReadonlyMap<string, unknown>

/** The answer runs one load with a cache. */
export function createLoadCache(): <Loaded extends { readonly ok: boolean }>(
  load: (cache: LoadCache) => Promise<Loaded>,
) => Promise<Loaded> {
  let last: Notes | undefined
  let good: Notes | undefined
  return async (load) => {
    const earlier = [...new Set([last, good])].filter((notes) => notes !== undefined)
    const notes = new Map<string, unknown>()
    const loaded = await load(createCache(notes, earlier))
    last = notes
    if (loaded.ok) good = notes
    // What still holds this cache must not hold all those before it.
    earlier.length = 0
    return loaded
  }
}

function createCache(notes: Map<string, unknown>, earlier: readonly Notes[]): LoadCache {
  const lookUp = <Made>(kind: string, name: string): Made[] =>
    earlier.map((one) => one.get(`${kind} ${name}`) as Made).filter((made) => made !== undefined)
  const note = (kind: string, name: string, made: unknown) => void notes.set(`${kind} ${name}`, made)
  return {
    lookUp,
    note,
    keep(kind, name, tree) {
      const same = lookUp<typeof tree>(kind, name).find((one) => saysTheSame(one, tree))
      const kept = same ?? freezeDeep(tree)
      note(kind, name, kept)
      return kept
    },
  }
}

/** The order of keys counts as well: a test sends its body as it is written. */
function saysTheSame(one: object, other: object): boolean {
  return isDeepStrictEqual(one, other) && JSON.stringify(one) === JSON.stringify(other)
}

/** What was made of objects, with what else went into it. It is forgotten together with them. */
export type Memo<Made> = WeakMap<object, { readonly inputs: readonly unknown[]; readonly made: Made }>

/** What `make` gave for this object before, unless its inputs are others now. It must depend on nothing else. */
export function remember<Made>(
  memo: Memo<Made>,
  owner: object,
  inputs: readonly unknown[],
  make: () => Made,
): Made {
  const known = memo.get(owner)
  if (known?.inputs.every((input, index) => input === inputs[index])) return known.made
  const made = make()
  memo.set(owner, { inputs, made })
  return made
}
