/** Opens what a test needs until its end. */

import type { TestContext } from 'node:test'

interface Closeable {
  close?(): Promise<void> | void
}

/** Creates a fixture that is closed once: by the test, or at its end. */
export async function openFixture<Fixture extends Closeable>(
  t: TestContext,
  create: () => Promise<Fixture> | Fixture,
): Promise<Fixture & { close(): Promise<void> }> {
  const fixture = await create()
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= Promise.resolve(fixture.close?.())
    return closing
  }
  t.after(close)
  return { ...fixture, close }
}
