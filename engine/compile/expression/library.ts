/** Owns what of the expression library is used beyond its types: the hooks, the frames and its own functions. */

import jsonata from 'jsonata'
import type { Turns } from './scheduler.ts'

/** The library asks what is bound to these names before and after each node of a program, and awaits the answer. */
export const entry = Symbol.for('jsonata.__evaluate_entry') as unknown as string
export const exit = Symbol.for('jsonata.__evaluate_exit') as unknown as string

/** No variable of an expression is called that: their names end at a space. */
const evaluationName = ' evaluation'

/** What belongs to one evaluation. */
export interface Evaluation extends Turns {
  /** The request's time. */
  readonly now: number
  /** Elements and characters made so far. */
  made: number
  /** Nodes since the clock was looked at. */
  unwatched: number
  /** Lists that were empty when they were grouped, and are to be empty again. */
  readonly grouped: unknown[][]
  /** What `$clone` made, which a transform may change. */
  readonly clones: WeakSet<object>
}

/** Runs it and leaves the payload as it was. */
export async function withEvaluation<Result>(
  turns: Turns,
  now: number,
  run: (bindings: Readonly<Record<string, unknown>>) => Promise<Result>,
): Promise<Result> {
  const evaluation: Evaluation = { ...turns, now, made: 0, unwatched: 0, grouped: [], clones: new WeakSet() }
  try {
    return await run({ [evaluationName]: evaluation })
  } finally {
    for (const list of evaluation.grouped) list.length = 0
  }
}

export interface Frame {
  readonly lookup: (name: string) => unknown
  /** The frame that all of one evaluation share. */
  readonly base: Frame
  /** Nodes under way. */
  readonly depth: number
  evaluation?: Evaluation
  timestamp?: Date
}

/** `this` of a function. */
export interface Focus {
  readonly environment: Frame
  readonly createSequence: () => unknown[]
}

export function turnOf(focus: Focus): Turns['turn'] {
  return evaluationOf(focus.environment).turn
}

export function evaluationOf(frame: Frame): Evaluation {
  const { base } = frame
  if (base.evaluation === undefined) {
    base.evaluation = base.lookup(evaluationName) as Evaluation
    // Read by `$toMillis` for what a text does not say.
    base.timestamp = new Date(base.evaluation.now)
  }
  return base.evaluation
}

type LibraryFunction = (this: unknown, ...values: readonly unknown[]) => unknown

let frame: Frame | undefined

interface LibraryDefinition {
  readonly implementation: LibraryFunction
  readonly signature: {
    /** Throws what the library throws for arguments that do not fit. `context` stands for one that may be left out. */
    readonly validate: (values: readonly unknown[], context: unknown) => readonly unknown[]
  }
}

/** The library's own function of that name, as it defines it. */
export function libraryDefinition(name: string): LibraryDefinition {
  frame ??= openFrame(() => {})
  return frame.lookup(name) as LibraryDefinition
}

/** The same, for where ours only checks its arguments. */
export function libraryFunction(name: string): LibraryFunction {
  return libraryDefinition(name).implementation
}

/** The names of an expression that was prepared so. */
export function openFrame(prepare: (probe: jsonata.Expression) => void): Frame {
  const probe = jsonata('1')
  let found: Frame | undefined
  probe.assign(entry, (_node: unknown, _input: unknown, environment: Frame) => {
    found = environment
  })
  prepare(probe)
  // The hook before the first node is called before anything is awaited.
  void probe.evaluate(undefined)
  if (found === undefined) throw new Error('the expression library no longer calls its hook at once')
  return found
}

/** A function of the language, however it was made; a payload can only hold what looks like one. */
export function isCallable(value: unknown): boolean {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null) return false
  const { implementation, environment } = value as {
    implementation?: unknown
    environment?: { lookup?: unknown } | null
  }
  return typeof implementation === 'function' || typeof environment?.lookup === 'function'
}
