/** The sign-ins that a sign-out ended before they expired. They are stored, so every node refuses them, also after a restart. */

import { BoundedMap } from '@reveille/kit'
import type { Store } from '../store/port.ts'

export function createSignOuts({ command, read }: Pick<Store, 'command' | 'read'>) {
  /** A sign-in that has ended stays ended, and is not looked up again. */
  const ended = new BoundedMap<string, true>(10_000)

  return {
    /** True if this process knows that the sign-in has ended. */
    isKnown: (signInId: string) => ended.has(signInId),
    /** @throws StoreError for a store that cannot be read */
    async has(signIn: string): Promise<boolean> {
      if (!ended.has(signIn) && (await read.isSignedOut(signIn))) ended.set(signIn, true)
      return ended.has(signIn)
    },
    /** `until`: when it would have expired. @throws StoreError */
    async add(signInId: string, until: number): Promise<void> {
      await command({ type: 'sign-out', signIn: signInId, until })
      ended.set(signInId, true)
    },
  }
}
