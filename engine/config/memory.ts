/** Owns what is remembered of things that did not change: within one, and from load to load. */

import { createHash } from 'node:crypto'
import { backgroundMs, takeTurn } from '../turn.ts'
import { freezeDeep } from './freeze-deep.ts'
import { isSameTree } from './same-tree.ts'

/** What was made of one thing, by stage. It is forgotten together with the thing. */
export type Stages = Map<unknown, { readonly inputs: readonly unknown[]; readonly made: unknown }>

/** What `make` gave before, unless something else than these `inputs` went into it. It must depend on nothing else. */
export function remember<Made>(
  stages: Stages,
  stage: unknown,
  inputs: readonly unknown[],
  make: () => Made,
): Made {
  const known = stages.get(stage)
  if (known?.inputs.every((input, index) => input === inputs[index])) return known.made as Made
  const made = make()
  stages.set(stage, { inputs, made })
  return made
}

/** A text, and the SHA-256 of it in hex. */
export interface KnownText {
  readonly text: string
  readonly digest: string
}

/** What one load leaves to the next: texts by their file, and whatever was made of a file, by kind and name. */
interface Notes {
  readonly texts: Map<string, KnownText>
  readonly made: Map<string, unknown>
}

/**
 * What loads remember for later ones. Two earlier loads are asked, the last one and the last that gave a configuration,
 * so that an edit which is taken back costs nothing; what neither of them made is forgotten.
 */
export interface Memory {
  /** The text of a file that holds `text` now, the same string as before where it is equal. */
  text(file: string, text: string): Promise<KnownText>
  /** What earlier loads noted, the last one's first. */
  recall<Made>(kind: string, name: string): readonly Made[]
  note(kind: string, name: string, made: unknown): void
  /** Frozen; the very tree that an earlier load kept under this name, if it was the same. Without a name: `tree`. */
  keep<Tree extends object>(kind: string, name: string | undefined, tree: Tree): Tree
}

/** One load's memory, until it ends. */
export interface Recollection {
  readonly memory: Memory
  /** From now on, this load is one of the earlier ones, and recalls none itself. */
  end(isGood: boolean): void
}

/** Answers what begins a load. */
export function createRecollections(): () => Recollection {
  let last: Notes | undefined
  let good: Notes | undefined
  return () => {
    const earlier = [...new Set([last, good])].filter((notes) => notes !== undefined)
    const notes: Notes = { texts: new Map(), made: new Map() }
    return {
      memory: createMemory(notes, earlier),
      end(isGood) {
        last = notes
        if (isGood) good = notes
        // Whatever still holds this memory must not hold all those before it.
        earlier.length = 0
      },
    }
  }
}

function createMemory(notes: Notes, earlier: readonly Notes[]): Memory {
  const recall = <Made>(kind: string, name: string): Made[] =>
    earlier.map(({ made }) => made.get(`${kind} ${name}`) as Made).filter((made) => made !== undefined)
  const note = (kind: string, name: string, made: unknown) => void notes.made.set(`${kind} ${name}`, made)
  return {
    async text(file, text) {
      const known =
        earlier.map(({ texts }) => texts.get(file)).find((one) => one?.text === text) ??
        Object.freeze({ text, digest: await digestOf(text) })
      notes.texts.set(file, known)
      return known
    },
    recall,
    note,
    keep(kind, name, tree) {
      if (name === undefined) return freezeDeep(tree)
      const same = recall<typeof tree>(kind, name).find((one) => isSameTree(one, tree))
      const kept = same ?? freezeDeep(tree)
      note(kind, name, kept)
      return kept
    },
  }
}

/** Characters between two questions for a turn. */
const digestedAtOnce = 262_144

async function digestOf(text: string): Promise<string> {
  const hash = createHash('sha256')
  for (let start = 0; start < text.length; ) {
    await takeTurn(backgroundMs)
    let end = Math.min(start + digestedAtOnce, text.length)
    // A character of two units stays whole.
    if (/[\ud800-\udbff]/.test(text[end - 1] ?? '')) end++
    hash.update(text.slice(start, end))
    start = end
  }
  return hash.digest('hex')
}
