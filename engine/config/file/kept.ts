/** Keeps results of earlier loads while a configuration has them, so that unchanged parts are neither parsed, checked nor compiled again. */

import { hash } from 'node:crypto'
import { freezeDeep } from '../values/freeze-deep.ts'

/** By a digest of what they were made from. */
const kept = new Map<string, WeakRef<object>>()

const registry = new FinalizationRegistry<string>((key) => {
  if (kept.get(key)?.deref() === undefined) kept.delete(key)
})

/** `inputs` determine the result; the order of keys in them counts as well. */
export function keyOf(...inputs: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(inputs, asJson))
}

/** JSON has no numbers that are not finite. */
function asJson(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? { number: String(value) } : value
}

export function findKept<Made extends object>(key: string): Made | undefined {
  return kept.get(key)?.deref() as Made | undefined
}

export function keep<Made extends object>(key: string, made: Made): Made {
  kept.set(key, new WeakRef(made))
  registry.register(made, key)
  return made
}

/** Returns a frozen tree of plain data: the very one that an earlier load kept under this name, if it is equal. */
export function keepTree<Tree extends object>(kind: string, name: string, tree: Tree): Tree {
  const key = keyOf(kind, name, tree)
  return findKept<Tree>(key) ?? keep(key, freezeDeep(tree))
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
