/** Owns taking settings to the store: one after the other, the newest last, and again until it takes them. */

import type { Timers } from '@reveille/engine'

export interface SettingsApplier {
  /**
   * Applies what holds now. Resolves when that was tried; what could not be applied is tried again later. Never
   * rejects.
   */
  apply(): Promise<void>
  /** Tries nothing again. */
  stop(): void
}

export interface SettingsApplierOptions {
  /** Reads the settings of now, and takes them to the store. */
  applyOnce(): Promise<void>
  onFailure(error: unknown): void
  readonly timers: Timers
}

/** Between two tries. Milliseconds. */
const pauseMs = 5000

export function createSettingsApplier({
  applyOnce,
  onFailure,
  timers,
}: SettingsApplierOptions): SettingsApplier {
  let isWanted = false
  let isStopped = false
  let applying: Promise<void> | undefined
  let retry: unknown

  /** Settings that came while older ones were under way follow them: side by side, the older ones could be last. */
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

  function apply(): Promise<void> {
    isWanted = true
    applying ??= applyNewest().finally(() => {
      applying = undefined
    })
    return applying
  }

  return {
    apply,
    stop() {
      isStopped = true
      timers.clearTimeout(retry)
    },
  }
}
