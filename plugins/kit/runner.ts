/** Owns the runner contract: how one agent turn is asked for and answered. */

/** One message of a session, oldest first. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** A system event that a heartbeat shows to the main session. */
export interface TurnEvent {
  readonly id: string
  /** The event's text as it was rendered, without the boundary. */
  readonly text: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** One turn. Frozen: a runner reads it and never changes it. */
export interface Turn {
  readonly runId: string
  readonly sessionKey: string
  readonly kind: 'run' | 'heartbeat'
  /** What the model is asked, boundary applied. A heartbeat's prompt already holds its events. */
  readonly prompt: string
  /** The events that the prompt holds; empty unless `kind` is `heartbeat`. */
  readonly events: readonly TurnEvent[]
  /** Earlier turns of the session, oldest first, without this one. */
  readonly history: readonly Message[]
  readonly model?: string
  readonly thinking?: string
  readonly systemPrompt?: string
  /** 1 for the first attempt of this run. */
  readonly attempt: number
}

export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
}

export interface TurnResult {
  /** The agent's reply, Markdown. May be empty: the agent had nothing to say. */
  readonly reply: string
  readonly usage?: Usage
  /** The model that answered, where the runner knows it better than the turn did. */
  readonly model?: string
}

export interface TurnCall {
  /** Aborted when the run is cancelled, its time is over or the gateway drains. The runner then throws soon. */
  readonly signal: AbortSignal
}

/**
 * Runs agent turns. Turns of one session never overlap; turns of different sessions may.
 * `run` throws a {@link PluginError}; any other error counts as permanent.
 */
export interface Runner {
  /** The name that configuration uses: `echo`, `ai`. */
  readonly id: string
  run(turn: Turn, call: TurnCall): Promise<TurnResult>
}
