/** Waits for a condition. */

import { setTimeout as pause } from 'node:timers/promises'
import { currentDeadlineMs } from './deadline.ts'

/** Waits until a condition is true. @throws if that takes too long */
export async function until(isSo: () => boolean, what: () => string): Promise<void> {
  const began = Date.now()
  while (!isSo()) {
    if (Date.now() - began > currentDeadlineMs())
      throw new Error(`Waited ${currentDeadlineMs()} ms in vain until ${what()}.`)
    await pause(1)
  }
}
