/** Which sign-ins were ended before their time. They are rows of the store, so that every node refuses them, also after a restart. */

import { BoundedMap } from '@reveille/kit'
import type { Store } from '../store/port.ts'

export function createSignOuts({ command, read }: Pick<Store, 'command' | 'read'>) {
  /** A sign-in that has ended stays ended, and is not looked up again. */
  const known = new BoundedMap<string, true>(10_000)

  return {
    /** Whether it is known here that the sign-in has ended. */
    isKnown: (signIn: string) => known.has(signIn),
    /** @throws StoreError for a store that cannot be read */
    async has(signIn: string): Promise<boolean> {
      if (!known.has(signIn) && (await read.isSignedOut(signIn))) known.set(signIn, true)
      return known.has(signIn)
    },
    /** `until`: when it would have ended by itself. @throws StoreError */
    async add(signIn: string, until: number): Promise<void> {
      await command({ type: 'sign-out', signIn, until })
      known.set(signIn, true)
    },
  }
}
