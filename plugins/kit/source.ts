/** Owns the contract of sources: what fetches events from a service, for the gateway to take as if they had been posted. */

/** One that is configured. `run` is where it lives: making it does nothing. */
export interface Source {
  /** What its manifest calls it: `gmail`. */
  readonly id: string
  /**
   * Fetches and posts until `call.signal` is aborted, and then settles soon: within ten seconds. At no time are there
   * two calls for one data folder, in whatever processes. A call that throws or returns before is made again, after a
   * wait that grows to five minutes, or after `retryAfter`. What a person has to mend is no reason to throw: a source
   * reports it, and looks now and then whether it is mended.
   */
  run(call: SourceCall): Promise<void>
}

export interface SourceCall {
  /** Aborted when the source is to end: the gateway stops, or its configuration changed. */
  readonly signal: AbortSignal
  readonly clock: SourceClock
  /** What the source stores from one run to the next. */
  readonly storage: SourceStorage
  /**
   * As if `body` had been posted to `hooks.path` + `endpoint` by somebody who is trusted: what comes of it is decided
   * by mappings, and the answer comes when that is on disk. Refusals are answers.
   * @throws PluginError `network`, retryable, where the gateway cannot be reached; the reason of the signal
   */
  post(endpoint: string, body: unknown, signal?: AbortSignal): Promise<Posted>
  /** What one request to that endpoint may hold, by the configuration of now. */
  limitsOf(endpoint: string): PostLimits
  /**
   * Takes over what others post to that endpoint, for as long as this run lasts. They have proven who they are as its
   * policy asks. `take` settles when the request may be answered with success; a throw answers 503, and the sender
   * comes again. Returns false where requests cannot be received, as in a process without a hook surface.
   */
  receive(endpoint: string, take: (body: unknown) => Promise<void>): boolean
  /**
   * Calls back after each change of the gateway's configuration that leaves the source as it is: what was refused may be
   * taken now. Until this run ends.
   */
  onReloaded(listener: () => void): void
  /** How the source fares, for logs and status. The last report holds until the next. Without secrets. */
  report(report: SourceReport): void
}

export interface SourceClock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Resolves so many milliseconds from now. @throws the reason of the signal */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/**
 * Small values by name, on disk in a folder that is the source's own, for its owner's eyes only. What `write` has
 * resolved for survives a crash; a value is there whole or as it was.
 */
export interface SourceStorage {
  /** As JSON gives it back; undefined where there is none. @throws PluginError `kept-damaged` */
  read(name: string): Promise<unknown>
  /** @throws PluginError `kept-failed`, retryable: the disk did not take it */
  write(name: string, value: unknown): Promise<void>
}

export interface Posted {
  /** Of HTTP. 2xx: it is on disk, or no mapping wanted it; never to be posted again. */
  readonly status: number
  /** Of a success: nothing came of the whole of it, since no mapping wanted it or it repeats what the gateway delivered. */
  readonly isIgnored?: boolean
  /** Of a refusal: the stable code, as `BODY_TOO_LARGE`. */
  readonly code?: string
  /** Of a refusal, in one sentence. */
  readonly message?: string
  /** Seconds that the gateway asks to wait. */
  readonly retryAfter?: number
}

export interface PostLimits {
  /** Of the body as JSON, in bytes. */
  readonly maxBodyBytes: number
  /** Actions, which a mapping with `forEach` makes of one body. */
  readonly maxActions: number
  /** Bytes that the templates may render of one body. */
  readonly maxRenderedBytes: number
}

export interface SourceReport {
  /**
   * `working`: all is well. `failing`: something is wrong that may pass by itself. `waiting`: a person has to do
   * something, which `detail` says.
   */
  readonly state: 'working' | 'failing' | 'waiting'
  /** A sentence for the operator. */
  readonly detail: string
  /** Milliseconds since the Unix epoch, by what happens then: `watchEnds`, `lastMail`. */
  readonly times?: Readonly<Record<string, number>>
  /** Numbers by what they count: `posted`; `refused` is what the gateway did not take, to be tried again. */
  readonly counts?: Readonly<Record<string, number>>
}
