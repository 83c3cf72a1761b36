/** Defines the contract of sources, which fetch events from a service and post them to the gateway. */

/** A configured source. Creating it has no effect; everything happens in `run`. */
export interface Source {
  /** The name of the source in its manifest, such as `gmail`. */
  readonly id: string
  /**
   * Fetches and posts until `call.signal` is aborted, and then settles within ten seconds. There are never two calls at a time
   * for one data folder, in any processes. A call that throws or returns earlier is repeated after a wait that grows to five
   * minutes, or after `retryAfter`. A source does not throw for what a person has to fix, but reports it and checks from time
   * to time whether it is fixed.
   */
  run(call: SourceCall): Promise<void>
}

export interface SourceCall {
  /** The signal that is aborted when the gateway stops or the configuration of the source changes. */
  readonly signal: AbortSignal
  readonly clock: SourceClock
  /** Storage that outlives a run of the source. */
  readonly storage: SourceStorage
  /**
   * Posts `body` to `hooks.path` + `endpoint` as a trusted sender. Mappings decide what becomes of it, and the answer comes
   * when that is on disk. Refusals are answers.
   * @throws PluginError `network`, retryable, if the gateway cannot be reached; the reason of the signal
   */
  post(endpoint: string, body: unknown, signal?: AbortSignal): Promise<Posted>
  /** Returns what one request to this endpoint may hold under the current configuration. */
  limitsOf(endpoint: string): PostLimits
  /**
   * Registers a listener that is called, until this run ends, after each change of the gateway's configuration that does not
   * change the source, because what was refused may be accepted now.
   */
  onReloaded(listener: () => void): void
  /** Reports the state of the source for logs and status, without secrets. A report holds until the next one. */
  report(report: SourceReport): void
}

export interface SourceClock {
  /** Returns the time in milliseconds since the Unix epoch. */
  now(): number
  /** Waits so many milliseconds. @throws the reason of the signal */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/**
 * Stores small values by name in a folder of the source, which only its owner can read. A value for which `write` has resolved
 * survives a crash; a write is complete or has no effect.
 */
export interface SourceStorage {
  /** Returns a value as JSON restores it, or undefined if there is none. @throws PluginError `kept-damaged` */
  read(name: string): Promise<unknown>
  /** @throws PluginError `kept-failed`, retryable, if the disk refuses the write */
  write(name: string, value: unknown): Promise<void>
}

export interface Posted {
  /** The HTTP status. With 2xx the body is on disk or no mapping wanted it, and it must not be posted again. */
  readonly status: number
  /** True if a success had no effect, because no mapping matched or it repeats an earlier delivery. */
  readonly isIgnored?: boolean
  /** The stable code of a refusal, such as `BODY_TOO_LARGE`. */
  readonly code?: string
  /** A sentence about a refusal. */
  readonly message?: string
  /** The seconds that the gateway asks to wait. */
  readonly retryAfter?: number
}

export interface PostLimits {
  /** Maximum size of the body as JSON, in bytes. */
  readonly maxBodyBytes: number
  /** Maximum number of actions that mappings with `forEach` make of one body. */
  readonly maxActions: number
  /** Maximum size that templates render for one body, in bytes. */
  readonly maxRenderedBytes: number
}

export interface SourceReport {
  /**
   * `working` means that all is well, `failing` that something is wrong which may pass by itself, and `waiting` that a person
   * has to do what `detail` says.
   */
  readonly state: 'working' | 'failing' | 'waiting'
  /** A sentence for the operator. */
  readonly detail: string
  /** Times in milliseconds since the Unix epoch, by what happens then, such as `readAt` or `lastMail`. */
  readonly times?: Readonly<Record<string, number>>
  /** Numbers by what they count, such as `posted`. `refused` counts what the gateway refused and the source retries. */
  readonly counts?: Readonly<Record<string, number>>
}
