/** Follows what the gateway does, over one connection for all pages. */

import { effect, signal } from '@preact/signals'
import { get, session } from './api.ts'
import type { Frame } from './types.ts'

/** `lost`: the connection broke, and is tried again. `off`: the gateway has no stream to give now. */
export const connection = signal<'connecting' | 'live' | 'lost' | 'off'>('connecting')

type Listener = (frame: Frame | 'gap') => void

const listeners = new Set<Listener>()
let source: EventSource | undefined
let timer: ReturnType<typeof setTimeout> | undefined
/** Milliseconds until the next try; a browser tries again by itself only while the answer is no error. */
const pauses = [1_000, 2_000, 5_000, 15_000]
let failures = 0

/**
 * Calls back with each frame, and with `gap` where some are missing, so that lists have to be read again.
 * @returns what ends it
 */
export function onFrame(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function open(): void {
  clearTimeout(timer)
  source?.close()
  const opened = new EventSource('/api/stream')
  source = opened
  opened.addEventListener('open', () => {
    if (failures > 0) emit('gap')
    failures = 0
    connection.value = 'live'
  })
  opened.addEventListener('frame', (event) => emit(JSON.parse(event.data) as Frame))
  opened.addEventListener('gap', () => emit('gap'))
  opened.addEventListener('error', () => {
    connection.value = 'lost'
    // The browser tries again by itself, and says how far it came, unless the answer was an error.
    if (opened.readyState === EventSource.CLOSED) again()
  })
}

function again(): void {
  const pause = pauses[Math.min(failures, pauses.length - 1)]
  failures += 1
  if (failures > pauses.length) connection.value = 'off'
  timer = setTimeout(() => {
    // An EventSource does not say which error it got; this finds out whether the session has ended.
    get('/health').then(open, () => {
      if (session.value === 'open') again()
    })
  }, pause)
}

function emit(frame: Frame | 'gap'): void {
  for (const listener of listeners) listener(frame)
}

/** The stream lives as long as the session. */
export function followSession(): void {
  effect(() => {
    if (session.value === 'open') open()
    else {
      clearTimeout(timer)
      source?.close()
      source = undefined
    }
  })
}
