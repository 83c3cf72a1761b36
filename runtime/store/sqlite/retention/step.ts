/** Owns the shape of one kind of forgetting: a walk that goes on where it stopped. */

export type Key = readonly (string | number | Uint8Array)[]

/** Looks at up to `stride` rows after `after`; answers the last key it looked at, or that there is no more. */
export type Step = (after: Key | undefined, cutoff: number, now: number) => Key | undefined

/** Rows looked at before the time is looked at again. */
export const stride = 20
