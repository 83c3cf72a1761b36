/** Performs an action one call at a time, and once more if it is asked for meanwhile. */

/** The returned promise resolves when nothing more is asked for. `action` must not reject. */
export function repeatIfAsked(action: () => Promise<void>): () => Promise<void> {
  let isAsked = false
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (isAsked) {
      isAsked = false
      await action()
    }
    running = undefined
  }

  return () => {
    isAsked = true
    running ??= run()
    return running
  }
}
