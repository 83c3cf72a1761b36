/** Follows what the gateway does, over one connection for all pages. */

import { effect, signal } from '@preact/signals'
import { get, session, sessionHeaders } from './api.ts'
import type { Frame } from './types.ts'

/** `lost`: the connection broke, and is tried again. `off`: the gateway has no stream to give now. */
export const connection = signal<'connecting' | 'live' | 'lost' | 'off'>('connecting')

type Listener = (frame: Frame | 'gap') => void

const listeners = new Set<Listener>()
let source: AbortController | undefined
/** The id of the last event, from which the gateway goes on. */
let lastId: string | undefined
let timer: ReturnType<typeof setTimeout> | undefined
/** Milliseconds until the next try. */
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
  source?.abort()
  const opened = new AbortController()
  source = opened
  follow(opened.signal).then(
    () => lose(opened),
    () => lose(opened),
  )
}

/** An EventSource sends no headers of its own. @returns when the gateway has ended the stream */
async function follow(signal: AbortSignal): Promise<void> {
  const headers = { ...sessionHeaders(), ...(lastId !== undefined && { 'last-event-id': lastId }) }
  const { ok, body } = await fetch('/api/stream', { headers, signal, cache: 'no-store', redirect: 'error' })
  if (!ok || body === null) throw new Error('There is no stream.')
  if (failures > 0 && lastId === undefined) emit('gap')
  failures = 0
  connection.value = 'live'
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop() ?? ''
    if (!signal.aborted) blocks.forEach(take)
  }
}

/** Takes an event as `runtime/api/stream.ts` writes it. */
function take(block: string): void {
  const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
  lastId = fields.get('id') ?? lastId
  const event = fields.get('event')
  if (event === 'frame') emit(JSON.parse(fields.get('data') ?? '{}') as Frame)
  else if (event === 'gap') emit('gap')
}

function lose(opened: AbortController): void {
  if (source !== opened) return
  connection.value = 'lost'
  again()
}

function again(): void {
  const pause = pauses[Math.min(failures, pauses.length - 1)]
  failures += 1
  if (failures > pauses.length) connection.value = 'off'
  timer = setTimeout(() => {
    // This finds out whether the session has ended.
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
      source?.abort()
      source = undefined
      lastId = undefined
    }
  })
}
