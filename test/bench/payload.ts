/** The payload that mapped requests carry: a real delivery of GitHub from its SDK's package of examples. */

import { createRequire } from 'node:module'

const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as {
  readonly name: string
  readonly examples: readonly { readonly action?: string }[]
}[]

const ofPullRequests = examples.find(({ name }) => name === 'pull_request')?.examples ?? []

/** A pull request was opened. */
export const pullRequest = JSON.stringify(ofPullRequests.find(({ action }) => action === 'opened'))

/** A pull request got a label, which is the largest of GitHub's examples. */
export const labeledPullRequest = ofPullRequests
  .map((example) => JSON.stringify(example))
  .reduce((largest, body) => (body.length > largest.length ? body : largest))

/** Thousands of bytes. */
export function kilobytes(text: string): string {
  return (Buffer.byteLength(text) / 1000).toFixed(0)
}
