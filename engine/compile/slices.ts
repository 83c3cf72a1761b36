/** Defines work in slices, as a generator that yields where it may pause. `yield.ts` runs it with or without pauses. */

/** Work that yields after each piece that may take a fraction of a millisecond. */
export type Work<Result> = Generator<void, Result, void>

/** The number of pieces of a few microseconds each between two pauses. */
export const smallPieces = 64
