/** Shows what the main session is doing. The state is in memory: its turns are on record, and a restart asks again. */

export interface HeartbeatState {
  /**
   * `failing`: its last turn failed, and the next one waits. `quiet`: it waits for the end of the quiet hours.
   * `budget`: it waits for the next day, because today's budget is spent.
   */
  readonly state: 'idle' | 'running' | 'failing' | 'quiet' | 'budget'
  /** Turns in a row that failed. */
  readonly failures: number
  /** When this state began; `failing` begins with the first failure. Milliseconds since the Unix epoch. */
  readonly since?: number
  /** When the next heartbeat is due, unless an event asks for one before. Milliseconds since the Unix epoch. */
  readonly nextAt?: number
  /** The stable code of its last failure. It is removed by the first turn that succeeds. */
  readonly code?: string
}

export type HeartbeatBoard = ReturnType<typeof createHeartbeatBoard>

interface Failing {
  readonly failures: number
  readonly since: number
  readonly code: string
}

export function createHeartbeatBoard() {
  let now: Omit<HeartbeatState, 'failures' | 'code'> = { state: 'idle' }
  let failing: Failing | undefined

  function enter(state: HeartbeatState['state'], at: number, nextAt?: number) {
    const since = now.state === state ? now.since : at
    now = { state, since, ...(nextAt === undefined ? {} : { nextAt }) }
  }

  return {
    read: () => ({ ...now, failures: failing?.failures ?? 0, ...(failing && { code: failing.code }) }),
    started: (at: number) => enter('running', at),
    /** A turn succeeded, or there was nothing to ask. */
    rested(at: number, { nextAt, succeeded }: { readonly nextAt?: number; readonly succeeded: boolean }) {
      if (succeeded) failing = undefined
      enter('idle', at, nextAt)
    },
    failed(at: number, nextAt: number, failure: Pick<Failing, 'failures' | 'code'>) {
      failing = { ...failure, since: failing?.since ?? at }
      now = { state: 'failing', since: failing.since, nextAt }
    },
    waited: (at: number, why: 'quiet' | 'budget', nextAt: number) => enter(why, at, nextAt),
  }
}
