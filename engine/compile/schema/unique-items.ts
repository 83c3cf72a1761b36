/** Owns `uniqueItems` without comparing all elements with all others. */

import type { FuncKeywordDefinition } from 'ajv'
import type { SchemaMeter } from './meter.ts'

/** Two elements that share a hash and yet differ are rare; who makes many of them pays for comparing them. */
const comparison = 500

/** Takes the place of Ajv's own. */
export function uniqueItemsKeyword(meter: SchemaMeter): FuncKeywordDefinition {
  const seed = Math.floor(Math.random() * 0x7fffffff)
  return {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (wanted: boolean) => (list: readonly unknown[]) => !wanted || isUnique(list, seed, meter),
    errors: false,
    error: { message: 'must NOT have duplicate items' },
  }
}

function isUnique(list: readonly unknown[], seed: number, meter: SchemaMeter): boolean {
  const scalars = new Set<unknown>()
  const objects = new Map<number, object[]>()
  for (const element of list) {
    if (typeof element !== 'object' || element === null) {
      meter.spend(25)
      if (scalars.size === scalars.add(element).size) return false
      continue
    }
    meter.spend(50)
    const hash = hashOf(element, seed, meter)
    const alike = objects.get(hash)
    if (alike === undefined) {
      objects.set(hash, [element])
      continue
    }
    for (const other of alike) {
      meter.spend(comparison)
      if (isEqual(element, other)) return false
    }
    alike.push(element)
  }
  return true
}

/** The same for objects whose keys stand in another order. */
function hashOf(value: unknown, seed: number, meter: SchemaMeter): number {
  meter.spend(8)
  if (typeof value === 'string') return hashText(value, seed, meter)
  if (typeof value !== 'object' || value === null) return hashText(String(value), seed + 1, meter)
  let hash = seed + 2
  if (Array.isArray(value)) {
    for (const element of value) hash = mix(hash, hashOf(element, seed, meter))
    return hash
  }
  let sum = 0
  for (const [key, inner] of Object.entries(value)) {
    sum = (sum + mix(hashText(key, seed, meter), hashOf(inner, seed, meter))) | 0
  }
  return mix(hash + 3, sum)
}

function hashText(text: string, seed: number, meter: SchemaMeter): number {
  meter.spend(text.length >> 2)
  let hash = seed
  for (let index = 0; index < text.length; index++) hash = mix(hash, text.charCodeAt(index))
  return hash
}

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1)
  return mixed ^ (mixed >>> 15)
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every(
    (name) =>
      Object.hasOwn(other, name) &&
      isEqual((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
  )
}
