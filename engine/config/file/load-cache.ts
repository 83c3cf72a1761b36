/** Keeps results of earlier loads, so that unchanged parts are neither parsed, checked nor compiled again. */

import { isDeepStrictEqual } from 'node:util'
import { freezeDeep } from '../values/freeze-deep.ts'

/**
 * Uses two earlier loads, the last one and the last that gave a configuration, so that undoing an edit costs nothing.
 * Results that neither of them noted are dropped.
 */
export type LoadCache = ReturnType<typeof createCache>

type Notes = ReadonlyMap<string, unknown>

/** Returns a function that runs one load with a cache. */
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
    // The previous cache must not keep all earlier ones alive.
    earlier.length = 0
    return loaded
  }
}

function createCache(notes: Map<string, unknown>, earlier: readonly Notes[]) {
  /** Returns the results of this load and of earlier ones, the newest first. */
  function lookUp<Made>(kind: string, name: string): readonly Made[] {
    return [notes, ...earlier]
      .map((one) => one.get(`${kind} ${name}`) as Made)
      .filter((made) => made !== undefined)
  }
  const note = (kind: string, name: string, made: unknown) => void notes.set(`${kind} ${name}`, made)
  /** Returns a frozen tree: the very one that an earlier load kept under this name, if it is equal. */
  function keep<Tree extends object>(kind: string, name: string, tree: Tree): Tree {
    const same = lookUp<Tree>(kind, name).find((one) => isSameTree(one, tree))
    const kept = same ?? freezeDeep(tree)
    note(kind, name, kept)
    return kept
  }
  /** Does the same with what `make` gives for `owner`, and calls it only if one of its inputs has changed. */
  function keepMade<Tree extends object>(
    kind: string,
    name: string,
    owner: object,
    inputs: readonly unknown[],
    make: () => Tree,
  ): Tree {
    const kept = remember(trees, owner, inputs, () => keep(kind, name, make())) as Tree
    note(kind, name, kept)
    return kept
  }
  return { lookUp, note, keep, keepMade }
}

/** Trees made of objects; no object is the owner of trees of two kinds. */
const trees: Memo<object> = new WeakMap()

/** The order of keys counts as well, because a test sends its body as written. */
function isSameTree(one: object, other: object): boolean {
  return isDeepStrictEqual(one, other) && JSON.stringify(one) === JSON.stringify(other)
}

/** Results by object, with the other inputs that they depend on. They are dropped together with the object. */
export type Memo<Made> = WeakMap<object, { readonly inputs: readonly unknown[]; readonly made: Made }>

/** Returns the earlier result of `make` for this object, unless its inputs have changed. It must depend on nothing else. */
export function remember<Made>(
  memo: Memo<Made>,
  owner: object,
  inputs: readonly unknown[],
  make: () => Made,
): Made {
  const entries = memo.get(owner)
  if (entries?.inputs.every((input, index) => input === inputs[index])) return entries.made
  const made = make()
  memo.set(owner, { inputs, made })
  return made
}
