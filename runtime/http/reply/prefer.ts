/** Reads `wait` from the header `Prefer` (RFC 7240); other preferences are ignored. */

/** A longer wait is shortened to this. Seconds. */
const maxWaitSeconds = 300

/**
 * waitSecondsOf returns how long a sender would wait for the outcome, in whole seconds from 1 to 300. It returns undefined where
 * the sender gives no number of seconds: a server may ignore a preference that it does not understand.
 */
export function waitSecondsOf(prefer: string | readonly string[] | undefined): number | undefined {
  // If a preference is given twice, the first one counts. `wait` has no parameters.
  const preferences = [prefer ?? []].flat().join(',').split(',')
  const wait = preferences.find((each) => /^\s*wait\s*(=|;|$)/i.test(each)) ?? ''
  const [, given] = /=\s*("?)(\d+)\1\s*(?:;|$)/.exec(wait)?.slice(1) ?? []
  return Math.min(Number(given ?? 0), maxWaitSeconds) || undefined
}
