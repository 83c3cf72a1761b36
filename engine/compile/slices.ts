/** Work in slices: a generator that pauses where it may be interrupted. `yield.ts` runs it, with or without pauses. */

/** Work that pauses after each piece that may take a part of a millisecond. */
export type Work<Result> = Generator<void, Result, void>

/** How many pieces of a few microseconds each are done between two pauses. */
export const smallPieces = 64
