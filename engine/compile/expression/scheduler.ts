/**
 * Owns whose expression runs, and for how long.
 *
 * An evaluation begins at once where the turn of the event loop has time left, and most end within it. One that does
 * not goes on over many turns; there is one such at a time, so that the memory which a stranger's payload can claim is
 * that of one evaluation. Others that turn out to be long are thrown away and begun again when it is theirs to be it.
 */

import { processorMs } from '../../resolve/processor-time.ts'
import { thrownLimit } from './limit.ts'

/** How long expressions go on before everything else has a turn. Milliseconds. */
const turnMs = 10
/** Of that, what the long evaluation has while others wait for their first time. */
const longShareMs = 6
/** What one evaluation may take of the processor. */
const mostOwnMs = 500
/** Long ones that may wait for one another: some 20 s. */
const mostWaiting = 32
/** Parallel branches of one evaluation that go on together after a turn. */
const released = 16

interface Clock {
  /** Milliseconds, to end slices by. */
  readonly now: () => number
  /** Milliseconds of the processor that this thread has used: waiting behind others costs nobody. */
  readonly used: () => number
  readonly afterOthers: (turn: () => void) => void
}

/** One evaluation, as what it calls sees it. */
export interface Turns {
  /** Nothing while there is time; else what resolves when it is the evaluation's turn again. Throws when it is to end. */
  readonly turn: () => Promise<void> | undefined
}

type Scheduler = <Result>(run: (turns: Turns) => Promise<Result>) => Promise<Result>

interface Evaluation extends Turns {
  used: number
  began: number
  ended: boolean
  /** Branches that wait for the next turn. */
  readonly waiting: (() => void)[]
}

/** Thrown out of an evaluation that is to begin again. */
function startAgain(): { readonly again: true } {
  return { again: true }
}

function isStartAgain(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'again' in error
}

export function createScheduler(clock: Clock): Scheduler {
  let turnEnds = 0
  let sliceEnds = 0
  let running: Evaluation | undefined
  /** The one that goes on over many turns. */
  let long: Evaluation | undefined
  const newcomers: Evaluation[] = []
  const nextLong: Evaluation[] = []

  function create(): Evaluation {
    const evaluation: Evaluation = {
      used: 0,
      began: 0,
      ended: false,
      waiting: [],
      turn: () => takeTurn(evaluation),
    }
    return evaluation
  }

  function takeTurn(evaluation: Evaluation): Promise<void> | undefined {
    if (evaluation.ended) throw startAgain()
    if (evaluation === running) {
      if (clock.now() < sliceEnds) {
        evaluation.waiting.pop()?.()
        return undefined
      }
      pause(evaluation)
      if (evaluation.used > mostOwnMs) throw thrownLimit(`it takes more than ${mostOwnMs} ms`, 'D1012')
      if (long !== undefined && long !== evaluation) {
        evaluation.ended = true
        goOn()
        throw startAgain()
      }
      long = evaluation
      goOn()
    }
    return new Promise((resolve) => evaluation.waiting.push(resolve))
  }

  function pause(evaluation: Evaluation): void {
    evaluation.used += clock.used() - evaluation.began
    running = undefined
  }

  function resume(evaluation: Evaluation, until: number): void {
    running = evaluation
    sliceEnds = until
    evaluation.began = clock.used()
    for (let count = 0; count < released; count++) evaluation.waiting.pop()?.()
  }

  /** Whether there is time in this turn of the event loop, which begins with the first to ask. */
  function hasTime(): boolean {
    if (turnEnds === 0) {
      turnEnds = clock.now() + turnMs
      clock.afterOthers(endTurn)
      return true
    }
    return clock.now() < turnEnds
  }

  function endTurn(): void {
    turnEnds = 0
    if (running !== undefined) {
      // Its branches that went on have ended, and others of it still wait.
      if (running !== long) newcomers.push(running)
      pause(running)
    }
    if (long === undefined && newcomers.length === 0) return
    hasTime()
    if (long !== undefined) resume(long, newcomers.length > 0 ? turnEnds - turnMs + longShareMs : turnEnds)
    else goOn()
  }

  function goOn(): void {
    if (running !== undefined || !hasTime()) return
    const next = newcomers.shift() ?? long
    if (next !== undefined) resume(next, turnEnds)
  }

  /** Nothing where it may begin at once. */
  function begin(evaluation: Evaluation): Promise<void> | undefined {
    if (running === undefined && newcomers.length === 0 && hasTime()) {
      resume(evaluation, turnEnds)
      return undefined
    }
    newcomers.push(evaluation)
    return new Promise((resolve) => evaluation.waiting.push(resolve))
  }

  function end(evaluation: Evaluation): void {
    evaluation.ended = true
    if (running === evaluation) pause(evaluation)
    if (newcomers.includes(evaluation)) newcomers.splice(newcomers.indexOf(evaluation), 1)
    if (long === evaluation) long = nextLong.shift()
    goOn()
  }

  /** Resolves when it is the long one. */
  function becomeLong(evaluation: Evaluation): Promise<void> {
    if (nextLong.length >= mostWaiting) {
      throw thrownLimit('too many expressions that take long wait already', 'D1012')
    }
    const turn = new Promise<void>((resolve) => evaluation.waiting.push(resolve))
    if (long === undefined) {
      long = evaluation
      goOn()
    } else nextLong.push(evaluation)
    return turn
  }

  return async (run) => {
    const first = create()
    try {
      const wait = begin(first)
      if (wait !== undefined) await wait
      return await run(first)
    } catch (error) {
      if (!isStartAgain(error)) throw error
    } finally {
      end(first)
    }
    const again = create()
    const turn = becomeLong(again)
    try {
      await turn
      return await run(again)
    } finally {
      end(again)
    }
  }
}

/** There is one event loop, so there is one scheduler. */
export const evaluateInTurns = createScheduler({
  now: () => performance.now(),
  used: processorMs,
  afterOthers: (turn) => setImmediate(turn),
})
