/** Defines the contract of runners: how an agent's turn is requested and answered. */

/** One message of a session. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly text: string
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** A system event that a heartbeat shows to the main session. */
export interface TurnEvent {
  readonly id: string
  /** The rendered text of the event, without the boundary. */
  readonly text: string
  /** The same text as a model may see it, with the boundary applied. */
  readonly prompt?: string
  /** `now` if the sender asked for an immediate heartbeat. */
  readonly mode?: 'now' | 'next-heartbeat'
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** The rest of the decision, for runners that hand a turn over to another gateway. */
export interface TurnAction {
  /** The name of the sender for people. */
  readonly name?: string
  readonly wakeMode: 'now' | 'next-heartbeat'
  readonly deliver: boolean
  /** A channel's name, or `last`. */
  readonly channel: string
  readonly to?: string
}

/** One turn. It is frozen, and a runner never changes it. */
export interface Turn {
  readonly runId: string
  readonly sessionKey: string
  /** The kind of the turn. `compaction` asks for a summary of `history`, which replaces those messages. */
  readonly kind: 'run' | 'heartbeat' | 'compaction'
  /** The prompt for the model, with the boundary applied. The prompt of a heartbeat already holds its events. */
  readonly prompt: string
  /** The events in the prompt; empty unless `kind` is `heartbeat`. */
  readonly events: readonly TurnEvent[]
  /** The earlier messages of the session, oldest first. */
  readonly history: readonly Message[]
  readonly model?: string
  readonly thinking?: string
  readonly systemPrompt?: string
  /** The number of the attempt at this run, counted from 1. */
  readonly attempt: number
  /** The `state` that this runner last returned in this session, such as the id of a conversation stored elsewhere. */
  readonly state?: string
  /** The seconds that are left for this turn, after which the signal of the call is aborted. */
  readonly timeoutSeconds?: number
  /** The rest of the decision; absent for heartbeats and compactions. */
  readonly action?: TurnAction
}

export interface Usage {
  readonly inputTokens?: number
  /** The output tokens, including those for thinking. */
  readonly outputTokens?: number
  /** The input tokens that came from the vendor's cache. */
  readonly cachedInputTokens?: number
  /** The output tokens for thinking. */
  readonly reasoningTokens?: number
}

export interface TurnResult {
  /** The agent's reply in Markdown, which is empty if the agent had nothing to say. */
  readonly reply: string
  readonly usage?: Usage
  /** The model that answered, if the runner knows it better than the turn does. */
  readonly model?: string
  /** A text of at most 4,096 characters that is stored with the session and given to the runner's next turn in it. */
  readonly state?: string
  /** Sentences for the operator about a turn that succeeded, such as a setting that the vendor ignored. */
  readonly warnings?: readonly string[]
  /**
   * Where a turn can be followed, such as by its id, if another system has taken it over and answers, summarises and delivers
   * by itself. Then `reply` is empty, and nothing is posted or delivered here.
   */
  readonly handedOver?: string
}

/** The progress of a turn. */
export interface Progress {
  /** The text that was added to the reply. */
  readonly text?: string
  /** The agent's current activity in a few words, such as `running a tool`. */
  readonly note?: string
}

export interface TurnCall {
  /** The signal that is aborted when the run is cancelled, its time is over or the gateway drains. The runner then throws soon. */
  readonly signal: AbortSignal
  /** Reports the progress of the turn. A runner need not call it. Never throws. */
  readonly onProgress?: (progress: Progress) => void
}

/**
 * Runs agent turns. Turns of one session never overlap; turns of different sessions may. `run` throws a {@link PluginError};
 * any other error counts as permanent.
 *
 * An error says whose fault it is. These hold the runner: its runs wait, and none of them fails.
 * - `bad-credential`, or any code with `wholeService` (`out-of-credit`, a program that is missing): at once, until a person repairs it.
 * - `network`, `timeout` and `unavailable`, if `retryable`: once a run has used up its attempts, or several runs met it.
 * `rate-limited` makes the run wait and counts as no attempt. Every other error is about the turn alone: it is tried again as far as it
 * is `retryable`, and then the run has failed.
 */
export interface Runner {
  /** The name of the runner in the configuration, such as `echo` or `ai`. */
  readonly id: string
  /**
   * True if the conversation is stored elsewhere and found by `state` or by the key of the session. Such a runner is given no history,
   * and its history is never compacted. Default: false.
   */
  readonly keepsHistory?: boolean
  /**
   * True if its turns report `usage` with the tokens of input and output. Only such a runner can be paid by a budget in US dollars.
   * Default: false.
   */
  readonly countsTokens?: boolean
  /**
   * Resolves with a sentence on what the runner needs on this machine and does not find, such as its program, or with undefined. Called at
   * load and by `reveille check`; it asks no service.
   */
  check?(): Promise<string | undefined>
  /** Returns a sentence that says why the runner cannot use this model, or undefined if it can. Called at load. Pure. */
  checkModel?(model: string): string | undefined
  run(turn: Turn, call: TurnCall): Promise<TurnResult>
}
