/** Loads a bundled module, and lists its exports. */

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { typeName } from '../../config/values/type-name.ts'
import type { FunctionExport, ModuleExports } from './protocol.ts'

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
  if (typeof inner === 'function') return inner as Callable
  // OpenClaw looks there when there is no default export.
  return name === 'default' ? findExport(namespace, 'transform') : undefined
}

export function describeExports(namespace: Namespace, file: string): ModuleExports {
  const code = readFileSync(file, 'utf8')
  const names = new Set([...Object.keys(namespace), ...Object.keys(innerOf(namespace) ?? {})])
  // Transpilers set it for each other.
  names.delete('__esModule')
  // The default export may be found under another name.
  names.add('default')
  const functions: FunctionExport[] = []
  const others: { name: string; type: string }[] = []
  for (const name of names) {
    const found = findExport(namespace, name)
    if (found) functions.push({ name, ...positionOf(found, code) })
    else if (name in namespace || name !== 'default') others.push({ name, type: typeName(namespace[name]) })
  }
  return { functions, others }
}

/** The place of a function, for failures that have no line of their own. A function's text is its code. */
function positionOf(found: Callable, code: string): Pick<FunctionExport, 'position'> {
  const start = code.indexOf(Function.prototype.toString.call(found))
  if (start === -1) return {}
  const before = code.slice(0, start)
  const line = before.split('\n').length - 1
  return { position: { line, column: start - (before.lastIndexOf('\n') + 1) } }
}

function innerOf(namespace: Namespace): Namespace | undefined {
  const inner = namespace['default']
  const holdsNames = (typeof inner === 'object' && inner !== null) || typeof inner === 'function'
  return holdsNames ? (inner as unknown as Namespace) : undefined
}
