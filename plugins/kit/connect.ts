/** Defines how a plugin is connected to a service with a person's help, before it has a configuration. */

import type { SourceClock, SourceStorage } from './source.ts'

export interface ConnectCall {
  /** The existing configuration; empty if there is none. */
  readonly config: Readonly<Record<string, unknown>>
  /** What the person asks for this time, by option or answer. It takes precedence over `config`. */
  readonly wanted: Readonly<Record<string, unknown>>
  /** The storage that the source will have. Credentials are stored here and nowhere else. */
  readonly storage: SourceStorage
  readonly fetch: typeof fetch
  readonly clock: SourceClock
  /** The signal that is aborted when the person cancels. */
  readonly signal: AbortSignal
  readonly person: Person
  /** Reports a step once it is done, without secrets. */
  report(step: ConnectStep): void
}

export interface Person {
  /** Shows a page in a browser, or its address if there is no browser. */
  show(url: string): Promise<void>
  /** Asks for one line, which is hidden while typed. Never resolves if no one can answer. @throws the reason of the signal */
  ask(question: string, signal: AbortSignal): Promise<string>
}

export interface ConnectStep {
  /** The name of the step, such as `consent`, `topic` or `watch`. */
  readonly step: string
  /** Whether the step changed something. */
  readonly outcome: 'done' | 'unchanged'
  /** A sentence about the step. */
  readonly detail: string
}

/** What the configuration has to contain now, without secrets. */
export interface Connection {
  /** The whole configuration of the source. */
  readonly config: Readonly<Record<string, unknown>>
  /** Policies by endpoint, if others post for the source. An empty policy removes the authentication of an endpoint. */
  readonly endpoints?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
