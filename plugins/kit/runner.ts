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
  /** The same as a model may see it, boundary applied. */
  readonly prompt?: string
  /** Whether whoever posted it asked to be heard at once. */
  readonly mode?: 'now' | 'next-heartbeat'
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** What was decided besides the prompt: for runners that hand a turn on to another gateway. */
export interface TurnAction {
  /** Who asks, for people. */
  readonly name?: string
  readonly wakeMode: 'now' | 'next-heartbeat'
  readonly deliver: boolean
  /** A channel's name, or `last`. */
  readonly channel: string
  readonly to?: string
}

/** One turn. Frozen: a runner reads it and never changes it. */
export interface Turn {
  readonly runId: string
  readonly sessionKey: string
  /** `compaction` asks for a summary of `history`, which takes the place of those messages. */
  readonly kind: 'run' | 'heartbeat' | 'compaction'
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
  /** What this runner last answered as its `state` in this session: the id of a conversation kept elsewhere. */
  readonly state?: string
  /** Seconds that are left for this turn; the call's signal is aborted then. */
  readonly timeoutSeconds?: number
  /** Absent for heartbeats and compactions. */
  readonly action?: TurnAction
}

export interface Usage {
  readonly inputTokens?: number
  /** Thinking included. */
  readonly outputTokens?: number
  /** Of the input: those that came out of the vendor's cache. */
  readonly cachedInputTokens?: number
  /** Of the output: those that were thinking. */
  readonly reasoningTokens?: number
}

export interface TurnResult {
  /** The agent's reply, Markdown. May be empty: the agent had nothing to say. */
  readonly reply: string
  readonly usage?: Usage
  /** The model that answered, where the runner knows it better than the turn did. */
  readonly model?: string
  /** Kept with the session and given to its next turn of this runner. At most 4,096 characters. */
  readonly state?: string
  /** What the operator should know though the turn succeeded: a setting that the vendor ignored. A sentence each. */
  readonly warnings?: readonly string[]
  /**
   * The turn was taken over by another system, which answers, summarises and delivers by itself: where it can be
   * followed, such as the run's id there. Then `reply` is empty, and nothing is posted or delivered here.
   */
  readonly handedOver?: string
}

/** How far a turn has got. */
export interface Progress {
  /** What the reply has grown by. */
  readonly text?: string
  /** What is being done, in a few words: `running a tool`. */
  readonly note?: string
}

export interface TurnCall {
  /** Aborted when the run is cancelled, its time is over or the gateway drains. The runner then throws soon. */
  readonly signal: AbortSignal
  /** Tells how far the turn has got; nothing need ever be told. Never throws. */
  readonly onProgress?: (progress: Progress) => void
}

/**
 * Runs agent turns. Turns of one session never overlap; turns of different sessions may.
 * `run` throws a {@link PluginError}; any other error counts as permanent.
 */
export interface Runner {
  /** The name that configuration uses: `echo`, `ai`. */
  readonly id: string
  /**
   * Whether the conversation is kept elsewhere and found again by `state` or by the session's key. Such a runner is
   * shown no history, and nothing of it is ever compacted. Default: false.
   */
  readonly keepsHistory?: boolean
  /** Pure. Why it cannot take that model, as a sentence; nothing where it can. Asked at load. */
  checkModel?(model: string): string | undefined
  run(turn: Turn, call: TurnCall): Promise<TurnResult>
}
