/** Owns work in slices: a generator that pauses where it may be interrupted. `turn.ts` runs it, at once or in turns. */

/** It pauses after each piece that may take a part of a millisecond. */
export type Work<Result> = Generator<void, Result, void>

/** Of pieces that take a few microseconds each, so many go between two pauses. */
export const smallPieces = 64
