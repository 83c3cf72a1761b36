/** The parts of a gateway, which close in the reverse order of their start. */

export type Parts = ReturnType<typeof createParts>

export function createParts() {
  const stack = new AsyncDisposableStack()
  return {
    add: <Part extends { close(): unknown }>(part: Part): Part =>
      stack.adopt(part, async (added) => void (await added.close())),
    onClose: (close: () => Promise<void> | void) => stack.defer(close),
    close: () => stack.disposeAsync(),
  }
}
