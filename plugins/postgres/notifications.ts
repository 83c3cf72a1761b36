/**
 * Tells other processes what has happened, and hears of theirs, on one connection that listens. Whether notifications arrive is found
 * out by one to itself: behind a pooler they may not, and a network may be silent.
 */

import { randomBytes } from 'node:crypto'
import type { Driver } from '@reveille/kit'
import type { Connections } from './connections.ts'

type Listener = Parameters<Driver['listen']>

/** Milliseconds between two notifications to itself, and how long one may take. */
const checkMs = 5_000
/** Milliseconds that the first check may take. */
const firstCheckMs = 1_000
/** Milliseconds between polls while notifications do not arrive. */
const pollMs = 250
const reconnectMs = 1_000

export function createNotifications(connections: Connections, notify: (text: string) => Promise<void>) {
  /** The first characters of each notification of this process. */
  const own = randomBytes(6).toString('base64url')
  const closing = new AbortController()
  let hears = false
  let hasHeard = false

  async function keepListening(...listener: Listener): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await listen(...listener)
      } catch {
        // It is tried again.
      }
      hears = false
      await pause(reconnectMs)
    }
  }

  /** Listens until the connection is lost. */
  async function listen(...[onText, onGap, onHeard]: Listener): Promise<void> {
    const client = await connections.open()
    try {
      const lost = new AbortController()
      client.once('end', () => lost.abort())
      client.once('error', () => lost.abort())
      client.on('notification', ({ payload = '' }) => {
        if (!hears) onHeard()
        hears = true
        hasHeard = true
        const text = payload.slice(own.length)
        if (!payload.startsWith(own) && text !== '') onText(text)
      })
      await client.query('LISTEN reveille')
      onGap()
      await check(AbortSignal.any([lost.signal, closing.signal]))
    } finally {
      void client.end().catch(() => undefined)
    }
  }

  /** Returns when nothing is heard any more of a connection on which something was. */
  async function check(ended: AbortSignal): Promise<void> {
    for (let ms = firstCheckMs; !ended.aborted; ms = checkMs) {
      hasHeard = false
      await notify(own)
      await pause(ms, ended)
      if (hears && !hasHeard) return
    }
  }

  async function keepPolling(onGap: () => void): Promise<void> {
    while (!closing.signal.aborted) {
      await pause(pollMs)
      if (!hears) onGap()
    }
  }

  function pause(ms: number, ended: AbortSignal = closing.signal): Promise<void> {
    return new Promise((resolve) => {
      if (ended.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        ended.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      ended.addEventListener('abort', done)
    })
  }

  return {
    send: (text: string) => notify(own + text),
    listen(...listener: Listener): void {
      void keepListening(...listener)
      void keepPolling(listener[1])
    },
    close: () => closing.abort(),
  }
}
