/** Follows what the gateway does, over one connection for all pages. */

import { effect, signal } from '@preact/signals'
import { get, session, sessionHeaders } from './api.ts'
import type { Frame } from './types.ts'

/** `lost`: the connection broke, and is tried again. `off`: the gateway has no stream to give now. */
export const connection = signal<'connecting' | 'live' | 'lost' | 'off'>('connecting')

type Listener = (frame: Frame | 'gap') => void

const listeners = new Set<Listener>()
/** Milliseconds until the next try. */
const pauses = [1_000, 2_000, 5_000, 15_000]

/**
 * Calls back with each frame, and with `gap` where some are missing, so that lists have to be read again.
 * @returns what ends it
 */
export function onFrame(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function emit(frame: Frame | 'gap'): void {
  for (const listener of listeners) listener(frame)
}

/** The stream lives as long as the session. */
export function followSession(): void {
  effect(() => {
    if (session.value !== 'open') return
    const leaving = new AbortController()
    void follow(leaving.signal)
    return () => leaving.abort()
  })
}

/** What breaks is tried again. */
async function follow(signal: AbortSignal): Promise<void> {
  let failures = 0
  const isOpen = () => {
    if (failures > 0) emit('gap')
    failures = 0
    connection.value = 'live'
  }
  while (!signal.aborted) {
    await readStream(signal, isOpen).catch(() => undefined)
    if (signal.aborted) return
    connection.value = failures < pauses.length ? 'lost' : 'off'
    await new Promise((resolve) => setTimeout(resolve, pauses[failures] ?? pauses.at(-1)))
    failures += 1
    // This finds out whether the session has ended.
    await get('/health').catch(() => undefined)
  }
}

/** An EventSource sends no headers of its own. Resolves when the gateway has ended the stream. */
async function readStream(signal: AbortSignal, isOpen: () => void): Promise<void> {
  const options = { headers: sessionHeaders(), signal, cache: 'no-store', redirect: 'error' } as const
  const { ok, body } = await fetch('/api/stream', options)
  if (!ok || body === null) throw new Error('There is no stream.')
  isOpen()
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
  const event = fields.get('event')
  if (event === 'frame') emit(JSON.parse(fields.get('data') ?? '{}') as Frame)
  else if (event === 'gap') emit('gap')
}
