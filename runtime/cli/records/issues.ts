/** Shows issues with cause and next step; `reveille resolve`, `mute` and `reopen` change them. */

import { openClient } from '../client.ts'
import { failure } from '../command-failure.ts'
import type { CommandOptions, Io } from '../io.ts'
import { print } from '../print.ts'

const changes = {
  resolve: ['resolveIssue', 'resolved'],
  mute: ['muteIssue', 'muted'],
  reopen: ['reopenIssue', 'open again'],
} as const

export async function changeIssues(
  change: keyof typeof changes,
  keys: readonly string[],
  io: Io,
  { for: forMs }: CommandOptions,
): Promise<number> {
  const client = await openClient(io)
  const [route, done] = changes[change]
  const { items: known } = await client.ask('listIssues', { query: { limit: 500 } })
  const whole = [...new Set(keys)].map((given) =>
    wholeKeyOf(
      known.map(({ key }) => key),
      given,
    ),
  )
  const until = forMs === undefined ? {} : { until: io.now() + forMs }
  const items = await Promise.all(whole.map((key) => client.ask(route, { body: { key, ...until } })))
  return print(io, { items }, () => whole.map((key) => `${key}: ${done}\n`).join(''))
}

/** Completes the beginning of a key, or a code alone. @throws CommandFailure */
function wholeKeyOf(keys: readonly string[], given: string): string {
  if (keys.includes(given)) return given
  const found = keys.filter((key) => key.toLowerCase().startsWith(given.toLowerCase()))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  throw failure(
    only === undefined
      ? `There is no issue ${given}; \`reveille issues --all\` lists them.`
      : `More than one issue begins with ${given}: ${found.slice(0, 5).join(', ')}.`,
  )
}
