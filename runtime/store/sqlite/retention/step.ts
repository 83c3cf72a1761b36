/** The type of one retention step: a walk through a table that continues where it stopped. */

export type Key = readonly (string | number | Uint8Array)[]

/** Examines up to `stride` rows after `after`. Returns the last key it examined, or `undefined` at the end of the table. */
export type Step = (after: Key | undefined, cutoff: number, now: number) => Key | undefined

/** How many rows a step examines before the time is checked again. */
export const stride = 20
