/** Defines how a plugin is connected to a service with a person's help, before it has a configuration. */

import type { SourceClock, SourceStorage } from './source.ts'

export interface ConnectCall {
  /** The existing configuration; empty if there is none. */
  readonly config: Readonly<Record<string, unknown>>
  /** Settings requested for this run, by option or answer. They take precedence over `config`. */
  readonly requested: Readonly<Record<string, unknown>>
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
  /** Asks for what is missing before the work. Absent: no one can be asked, and what is missing is an error. */
  readonly questions?: Questions
}

/** Each throws if the person cancels. */
export interface Questions {
  text(question: Question): Promise<string>
  /** Asks for a file, and returns its absolute path. */
  path(question: Question): Promise<string>
}

export interface Question {
  readonly message: string
  /** Shown while nothing is typed. */
  readonly placeholder?: string
  /** The answer that an empty one means. Default: an empty answer is refused. */
  readonly fallback?: string
  /** Returns what is wrong with an answer, in a sentence. */
  validate?(answer: string): string | undefined
}

export interface ConnectStep {
  /** The name of the step, such as `consent` or `label`. */
  readonly step: string
  /** `done` if the step changed something. */
  readonly outcome: 'done' | 'unchanged'
  /** A sentence about the step. */
  readonly detail: string
}

/** The configuration that the connection needs, without secrets. */
export interface Connection {
  /** The whole configuration of the source. */
  readonly config: Readonly<Record<string, unknown>>
  /** The preset that handles what the source posts to the endpoint of that name. It is added unless a mapping does. */
  readonly preset?: string
  /** The connected thing, such as the address of a mailbox. Default: the name of the source. */
  readonly subject?: string
  /** A way to test it, as a sentence: `Send a mail to ada@example.com`. */
  readonly howToTry?: string
  /** More facts for scripts, without secrets. */
  readonly facts?: Readonly<Record<string, unknown>>
}
