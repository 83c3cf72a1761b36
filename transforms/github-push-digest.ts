/** Turns a push to GitHub into one question: what changed, by author, in a conversation for each branch. */

import { defineTransform, prompt, type TransformContext } from '@reveille/engine/transform'

interface Push {
  readonly ref: string
  readonly repository: { readonly full_name: string }
  readonly deleted?: boolean
  readonly forced?: boolean
  readonly compare?: string
  readonly commits?: readonly Commit[]
  readonly sender?: { readonly login?: string; readonly type?: string }
}

interface Commit {
  readonly message: string
  /** True if the commit is new; false if it was pushed before to another branch. */
  readonly distinct?: boolean
  readonly author?: { readonly name?: string; readonly username?: string }
}

const branchPrefix = 'refs/heads/'
/** Maximum number of commits shown. A push can hold 2,048; a model needs a few of them and their number. */
const maxCommits = 50
const maxSubjectLength = 120

export default defineTransform(({ payload: push }: TransformContext<Push>) => {
  if (push.deleted || !push.ref.startsWith(branchPrefix) || isBot(push.sender?.login, push.sender?.type))
    return null
  const commits = (push.commits ?? []).filter(
    ({ distinct, author }) => distinct !== false && !isBot(author?.username),
  )
  if (commits.length === 0) return null

  const branch = push.ref.slice(branchPrefix.length)
  const repository = push.repository.full_name
  return {
    name: 'GitHub',
    sessionKey: `hook:github:push:${repository}:${branch}`,
    message: prompt.join([
      push.forced
        ? prompt`The history of ${branch} in ${repository} was rewritten by a forced push.`
        : prompt`Somebody pushed to ${branch} in ${repository}.`,
      commits.length > maxCommits
        ? prompt`The first ${maxCommits} of ${commits.length} commits, by author:`
        : prompt`New commits: ${commits.length}. By author:`,
      digest(commits.slice(0, maxCommits)),
      push.compare === undefined ? null : prompt`Diff: ${push.compare}`,
      '',
      prompt`Say in at most three sentences what changed and why it may have been done. Name the commits that somebody should look at before the next release, and say why. Change nothing.`,
    ]),
  }
})

function isBot(name: string | undefined, type?: string): boolean {
  return type === 'Bot' || name?.endsWith('[bot]') === true
}

/** One text, so that a model reads one block of data and not a block for each commit. */
function digest(commits: readonly Commit[]): string {
  const byAuthor = Map.groupBy(commits, ({ author }) => author?.username ?? author?.name ?? 'unknown')
  return [...byAuthor]
    .map(([author, theirs]) => [`${author} (${theirs.length}):`, ...theirs.map(subject)].join('\n'))
    .join('\n')
}

function subject({ message }: Commit): string {
  const [line = ''] = message.split('\n', 1)
  return `- ${line.length > maxSubjectLength ? `${line.slice(0, maxSubjectLength - 1)}…` : line}`
}
