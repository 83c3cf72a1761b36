/** Applies settings to the store: one after the other, the newest last, and again until the store has taken them. */

import type { Timers } from '@reveille/engine'
import { repeatIfAsked } from '../repeat-if-asked.ts'

export interface SettingsApplierOptions {
  /** Reads the current settings and writes them to the store. */
  applyOnce(): Promise<void>
  onFailure(error: unknown): void
  readonly timers: Timers
}

/** Milliseconds between two tries. */
const pauseMs = 5000

/** Settings that come while older ones are being applied follow them. In parallel the older ones could win. */
export function createSettingsApplier({ applyOnce, onFailure, timers }: SettingsApplierOptions) {
  let isStopped = false
  let retry: unknown

  /** Resolves after the first try; what could not be applied is tried again later. Never rejects. */
  const apply = repeatIfAsked(async () => {
    if (isStopped) return
    timers.clearTimeout(retry)
    try {
      await applyOnce()
    } catch (error) {
      if (isStopped) return
      onFailure(error)
      retry = timers.setTimeout(() => void apply(), pauseMs)
    }
  })

  return {
    apply,
    /** Ends further tries. */
    stop() {
      isStopped = true
      timers.clearTimeout(retry)
    },
  }
}
