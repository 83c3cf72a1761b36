/** Owns loading a bundled module, and what its exports are. */

import { pathToFileURL } from 'node:url'
import type { ModuleExports } from './protocol.ts'

export type Namespace = Readonly<Record<string, unknown>>
type Callable = (context: unknown) => unknown

export async function loadModule(file: string): Promise<Namespace> {
  return (await import(pathToFileURL(file).href)) as Namespace
}

/** A CommonJS module's exports are one value, which is the default export of its bundle. */
export function findExport(namespace: Namespace, name: string): Callable | undefined {
  const own = namespace[name]
  if (typeof own === 'function') return own as Callable
  const inner = innerOf(namespace)?.[name]
  return typeof inner === 'function' ? (inner as Callable) : undefined
}

export function describeExports(namespace: Namespace): ModuleExports {
  const names = new Set([...Object.keys(namespace), ...Object.keys(innerOf(namespace) ?? {})])
  // Set by transpilers, for each other.
  names.delete('__esModule')
  const functions = [...names].filter((name) => findExport(namespace, name) !== undefined)
  const others = [...names].filter((name) => !functions.includes(name))
  return { functions, others: others.map((name) => ({ name, type: typeOf(namespace[name]) })) }
}

function innerOf(namespace: Namespace): Namespace | undefined {
  const inner = namespace['default']
  return typeof inner === 'object' && inner !== null ? (inner as Namespace) : undefined
}

function typeOf(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
