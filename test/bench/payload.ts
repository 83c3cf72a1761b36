/** The payload that mapped requests carry: a real delivery of GitHub from its SDK's package of examples. */

import { createRequire } from 'node:module'

const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
  readonly name: string
  readonly examples: readonly { readonly action?: string }[]
}[]

/** A pull request was opened. */
export const pullRequest = JSON.stringify(
  examples.find(({ name }) => name === 'pull_request')?.examples.find(({ action }) => action === 'opened'),
)

export function kilobytes(text: string): string {
  return (Buffer.byteLength(text) / 1024).toFixed(0)
}
