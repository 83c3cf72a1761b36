/** Owns what was read of a program's output. */

export interface Reading {
  /** Undefined when the output holds none. */
  readonly reply: string | undefined
  readonly session?: string
  /** What the program says went wrong, as a sentence; it may have ended with code 0 all the same. */
  readonly error?: string
  readonly model?: string
  readonly tokens: Tokens
  /** The output could not be read at all: its first characters. */
  readonly unreadable?: string
}

export interface Tokens {
  readonly input?: number
  readonly output?: number
  readonly cached?: number
  readonly reasoning?: number
}

export const tokenKinds = ['input', 'output', 'cached', 'reasoning'] as const

/** Fed as the output comes; `end` is called once. */
export interface Reader {
  write(chunk: string): void
  end(): Reading
}

/** Characters of an output that nobody can read which an error shows. */
export const shownOfUnreadable = 200
