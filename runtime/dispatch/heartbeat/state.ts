/** Owns what the main session is doing, for people to see. In memory: its turns are on record, and a restart asks anew. */

export interface HeartbeatState {
  /**
   * `failing`: its last turn failed, and the next one waits. `quiet`: it waits for the end of the quiet hours.
   * `budget`: it waits for the next day, because today's budget is spent.
   */
  readonly state: 'idle' | 'running' | 'failing' | 'quiet' | 'budget'
  /** Turns in a row that failed. */
  readonly failures: number
  /** When this state began, for `failing` with the first of the failures. Milliseconds since the Unix epoch. */
  readonly since?: number
  /** When the main session is looked at next, unless an event asks for it before. Milliseconds since the Unix epoch. */
  readonly nextAt?: number
  /** Why its last turn failed, as a stable code; gone with the first one that succeeds. */
  readonly code?: string
}

export interface HeartbeatBoard {
  read(): HeartbeatState
  started(at: number): void
  /** A turn succeeded, or there was nothing to ask. */
  rested(at: number, facts: { readonly nextAt?: number; readonly succeeded: boolean }): void
  failed(
    at: number,
    facts: { readonly nextAt: number; readonly failures: number; readonly code: string },
  ): void
  waited(at: number, why: 'quiet' | 'budget', nextAt: number): void
}

interface Trouble {
  readonly failures: number
  readonly since: number
  readonly code: string
}

export function createHeartbeatBoard(): HeartbeatBoard {
  let now: Omit<HeartbeatState, 'failures' | 'code'> = { state: 'idle' }
  let trouble: Trouble | undefined

  function enter(state: HeartbeatState['state'], at: number, nextAt?: number) {
    const since = now.state === state ? now.since : at
    now = { state, since, ...(nextAt === undefined ? {} : { nextAt }) }
  }

  return {
    read: () => ({ ...now, failures: trouble?.failures ?? 0, ...(trouble && { code: trouble.code }) }),
    started: (at) => enter('running', at),
    rested(at, { nextAt, succeeded }) {
      if (succeeded) trouble = undefined
      enter('idle', at, nextAt)
    },
    failed(at, { nextAt, failures, code }) {
      trouble = { failures, code, since: trouble?.since ?? at }
      now = { state: 'failing', since: trouble.since, nextAt }
    },
    waited: (at, why, nextAt) => enter(why, at, nextAt),
  }
}
