/** Lets calls about one subject follow each other; those about different ones run side by side. */

export function createMutex() {
  const last = new Map<string, Promise<unknown>>()
  return {
    /** Calls `act` when all earlier calls about the subject have ended. */
    async run<Value>(subject: string, act: () => Promise<Value>): Promise<Value> {
      const before = last.get(subject)
      const own = before === undefined ? act() : before.then(act, act)
      last.set(subject, own)
      try {
        return await own
      } finally {
        if (last.get(subject) === own) last.delete(subject)
      }
    },
  }
}
