/** Owns waiting for what comes about by itself. */

import { setTimeout as pause } from 'node:timers/promises'
import { patience } from './patience.ts'

/** @throws where it does not come about in time */
export async function until(isSo: () => boolean, what: () => string): Promise<void> {
  const began = Date.now()
  while (!isSo()) {
    if (Date.now() - began > patience()) throw new Error(`Waited ${patience()} ms in vain until ${what()}.`)
    await pause(1)
  }
}
