/** Checks that a message has a form that workers post, because a thread that ran foreign code is not trusted. */

import type { FromWorker } from '../worker/protocol.ts'

/** A name that ends in `?` may be absent; an array has elements of one shape. */
type Shape = 'string' | 'number' | 'boolean' | readonly [Shape] | { readonly [name: string]: Shape }

const position = { line: 'number', column: 'number' } as const
const place = { ...position, file: 'string', text: 'string', 'caret?': 'number' } as const
const error = {
  text: 'string',
  'name?': 'string',
  'refused?': 'number',
  'stoppedAt?': 'string',
  'stack?': 'string',
  'place?': place,
} as const

const shapes: { readonly [Type in FromWorker['type']]: Shape } = {
  loaded: {
    exports: {
      functions: [{ name: 'string', 'position?': position }],
      others: [{ name: 'string', type: 'string' }],
    },
    loadMs: 'number',
    memory: 'number',
  },
  'load-failed': { error },
  answered: { call: 'number', answer: 'string', memory: 'number' },
  failed: { call: 'number', error, memory: 'number' },
  escaped: { 'call?': 'number', 'requestId?': 'string', error },
  advice: { word: 'string' },
  reached: { call: 'number', target: 'string', isStopped: 'boolean', 'place?': place },
  output: { level: 'string', 'requestId?': 'string', text: 'string' },
}

export function isFromWorker(message: unknown): message is FromWorker {
  if (typeof message !== 'object' || message === null) return false
  const type = String((message as { type?: unknown }).type)
  return Object.hasOwn(shapes, type) && hasShape(message, shapes[type as FromWorker['type']])
}

function hasShape(value: unknown, shape: Shape): boolean {
  if (typeof shape === 'string') return typeof value === shape
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(shape)) return Array.isArray(value) && value.every((each) => hasShape(each, shape[0]))
  return Object.entries(shape).every(([name, each]) => {
    const found = (value as Record<string, unknown>)[name.replace('?', '')]
    return (found === undefined && name.endsWith('?')) || hasShape(found, each)
  })
}
