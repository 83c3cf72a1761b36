/** Owns how a plugin is connected to a service with a person's help, before there is a configuration for it. */

import type { SourceClock, SourceStorage } from './source.ts'

export interface ConnectCall {
  /** What is configured already; empty where nothing is. */
  readonly config: Readonly<Record<string, unknown>>
  /** What the person asks for this time, by option or answer: it wins over `config`. */
  readonly wanted: Readonly<Record<string, unknown>>
  /** The same as the source will have. Credentials go here, and nowhere else. */
  readonly storage: SourceStorage
  readonly fetch: typeof fetch
  readonly clock: SourceClock
  /** Aborted when the person calls it off. */
  readonly signal: AbortSignal
  readonly person: Person
  /** What was done, when it was done. Without secrets. */
  report(step: ConnectStep): void
}

export interface Person {
  /** Shows a page in a browser, or its address where there is none. */
  show(url: string): Promise<void>
  /** One line, not shown while it is typed. Never resolves where nobody can answer. @throws the reason of the signal */
  ask(question: string, signal: AbortSignal): Promise<string>
}

export interface ConnectStep {
  /** In a word: `consent`, `topic`, `watch`. */
  readonly step: string
  /** `unchanged`: it was as it should be. */
  readonly outcome: 'done' | 'unchanged'
  /** A sentence. */
  readonly detail: string
}

/** What is to stand in the configuration now. Without secrets. */
export interface Connection {
  /** Of the source, whole. */
  readonly config: Readonly<Record<string, unknown>>
  /** Policies by endpoint, where others post for it. An empty one: nobody does any more, and whoever they were known by goes. */
  readonly endpoints?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}
