/** Finds mappings by the values of a payload, with a tree of field paths that is walked together with the payload. */

import { anyElement, memberOf } from '../../payload/payload-path.ts'
import type { Scalar } from './scalar.ts'

/** Positions in matching order, ascending. */
export type Bucket = readonly number[]

export interface FieldIndex {
  /** Positions come in ascending order. */
  readonly add: (path: readonly string[], value: Scalar, position: number) => void
  /** Adds each bucket that a value, such as a payload, leads to. */
  readonly find: (value: unknown, found: Set<Bucket>) => void
}

interface Node {
  readonly children: Map<string, Node>
  readonly buckets: Map<unknown, number[]>
}

/** Up to this many fields are looked up one by one, without listing the payload's keys. */
const fewChildren = 32

export function createFieldIndex(): FieldIndex {
  const root = createNode()
  return {
    add: (path, value, position) => {
      const { buckets } = nodeAt(root, path)
      const bucket = buckets.get(value)
      if (bucket === undefined) buckets.set(value, [position])
      else if (bucket.at(-1) !== position) bucket.push(position)
    },
    find: (value, found) => walk(root, value, found),
  }
}

function createNode(): Node {
  return { children: new Map(), buckets: new Map() }
}

function nodeAt(root: Node, path: readonly string[]): Node {
  let node = root
  for (const key of path) {
    let child = node.children.get(key)
    if (child === undefined) {
      child = createNode()
      node.children.set(key, child)
    }
    node = child
  }
  return node
}

function walk(node: Node, value: unknown, found: Set<Bucket>): void {
  if (!Array.isArray(value)) {
    visit(node, value, found)
    return
  }
  anyElement(value, (element) => {
    visit(node, element, found)
    return false
  })
}

function visit(node: Node, value: unknown, found: Set<Bucket>): void {
  if (typeof value === 'object' && value !== null) {
    if (node.children.size > 0) descend(node.children, value, found)
    return
  }
  const bucket = node.buckets.get(value)
  if (bucket !== undefined) found.add(bucket)
}

/** Iterates over the fields of the patterns or those of the payload, whichever are fewer. */
function descend(children: Node['children'], value: object, found: Set<Bucket>): void {
  const keys = children.size > fewChildren ? Object.keys(value) : undefined
  if (keys !== undefined && keys.length < children.size) {
    for (const key of keys) {
      const child = children.get(key)
      if (child !== undefined) walk(child, memberOf(value, key), found)
    }
    return
  }
  for (const [key, child] of children) {
    const field = memberOf(value, key)
    if (field !== undefined) walk(child, field, found)
  }
}
