/** Applies settings to the store: one after the other, the newest last, and again until the store has taken them. */

import type { Timers } from '@reveille/engine'

export interface SettingsApplierOptions {
  /** Reads the current settings and writes them to the store. */
  applyOnce(): Promise<void>
  onFailure(error: unknown): void
  readonly timers: Timers
}

/** Milliseconds between two tries. */
const pauseMs = 5000

export function createSettingsApplier({ applyOnce, onFailure, timers }: SettingsApplierOptions) {
  let isWanted = false
  let isStopped = false
  let applying: Promise<void> | undefined
  let retry: unknown

  /** Settings that come while older ones are being applied follow them. In parallel the older ones could win. */
  async function applyNewest(): Promise<void> {
    while (isWanted && !isStopped) {
      isWanted = false
      timers.clearTimeout(retry)
      try {
        await applyOnce()
      } catch (error) {
        if (isStopped) return
        onFailure(error)
        retry = timers.setTimeout(() => void apply(), pauseMs)
      }
    }
  }

  /**
   * Applies the current settings. Resolves after the first try; what could not be applied is tried again later. Never
   * rejects.
   */
  function apply(): Promise<void> {
    isWanted = true
    applying ??= applyNewest().finally(() => {
      applying = undefined
    })
    return applying
  }

  return {
    apply,
    /** Ends further tries. */
    stop() {
      isStopped = true
      timers.clearTimeout(retry)
    },
  }
}
