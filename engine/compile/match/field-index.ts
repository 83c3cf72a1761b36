/** Owns finding mappings by what a payload holds: a tree of field paths, walked together with the payload. */

import type { HookRequest } from '../../resolve/decision.ts'
import type { Steps } from '../../resolve/program.ts'
import type { Scalar } from './scalar.ts'
import { anyElement, fieldOf, spend, stepsOfField } from './walk.ts'

/** Positions in matching order, ascending. */
export type Bucket = readonly number[]

export interface FieldIndex {
  readonly add: (path: readonly string[], value: Scalar, position: number) => void
  /** Hands over each bucket that the payload leads to, some more than once. @throws StepLimitError */
  readonly find: (request: HookRequest, found: (bucket: Bucket) => void, steps: Steps) => void
}

interface Node {
  readonly children: Map<string, Node>
  readonly buckets: Map<unknown, number[]>
}

/** So few fields are asked for, rather than the payload's keys listed. */
const fewChildren = 32
/** Bytes of a body. The keys of one of a megabyte take 50 ms to list. */
const smallBody = 65_536

export function createFieldIndex(): FieldIndex {
  const root = createNode()
  return {
    add: (path, value, position) => addTo(nodeAt(root, path).buckets, value, position),
    find: ({ payload, rawBody }, found, steps) =>
      walk(root, payload, { found, steps, isSmall: rawBody.length <= smallBody }),
  }
}

/** Positions come in ascending order. */
export function addTo(buckets: Map<unknown, number[]>, value: Scalar, position: number): void {
  const bucket = buckets.get(value)
  if (bucket === undefined) buckets.set(value, [position])
  else if (bucket.at(-1) !== position) bucket.push(position)
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

interface Walk {
  readonly found: (bucket: Bucket) => void
  readonly steps: Steps
  /** Whether no object of the payload can have so many keys that listing them takes long. */
  readonly isSmall: boolean
}

function walk(node: Node, value: unknown, way: Walk): void {
  if (!Array.isArray(value)) {
    visit(node, value, way)
    return
  }
  const visitElement = (element: unknown): boolean => {
    visit(node, element, way)
    return false
  }
  anyElement(value, visitElement, way.steps)
}

function visit(node: Node, value: unknown, way: Walk): void {
  if (typeof value === 'object' && value !== null) {
    if (node.children.size > 0) descend(node.children, value, way)
    return
  }
  const bucket = node.buckets.get(value)
  if (bucket !== undefined) way.found(bucket)
}

/** Over whichever are fewer, the fields that patterns name or those that the payload has. */
function descend(children: Node['children'], value: object, way: Walk): void {
  const keys = children.size > fewChildren && way.isSmall ? Object.keys(value) : undefined
  if (keys !== undefined && keys.length < children.size) {
    spend(way.steps, keys.length * stepsOfField)
    for (const key of keys) {
      const child = children.get(key)
      if (child !== undefined) walk(child, fieldOf(value, key), way)
    }
    return
  }
  spend(way.steps, children.size * stepsOfField)
  for (const [key, child] of children) {
    const field = fieldOf(value, key)
    if (field !== undefined) walk(child, field, way)
  }
}
