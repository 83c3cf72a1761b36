/** Bounds how long the suites wait for something that should happen at once. */

import { setTimeout as pause } from 'node:timers/promises'

/** The milliseconds that a suite waits: far more than any fake server on the same machine needs. */
let deadlineMs = 2000

/** Shortens the wait for what is known never to happen. Returns a function that restores it. */
export function shortenDeadline(ms: number): () => void {
  const before = deadlineMs
  deadlineMs = ms
  return () => {
    deadlineMs = before
  }
}

export async function within<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`Expected within ${deadlineMs} ms: ${what}.`)),
    deadlineMs,
  )
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits until a condition is true. @throws if that takes too long */
export async function until(isSo: () => boolean, what: () => string): Promise<void> {
  const began = Date.now()
  while (!isSo()) {
    if (Date.now() - began > deadlineMs) throw new Error(`Waited ${deadlineMs} ms in vain until ${what()}.`)
    await pause(1)
  }
}
