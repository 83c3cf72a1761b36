/** Posts mails to the gateway and acts on its answers, so that no mail is lost and none blocks the others. */

import { oneLine, PluginError, type Posted, type SourceCall } from '@reveille/kit'
import { mailEndpoint } from '../configuration.ts'
import { cutPosts, type MailItem, type MailPost, shortened } from '../mail/index.ts'
import { type RetryContext, retry } from './retry.ts'

export interface Posting extends RetryContext {
  readonly call: Pick<SourceCall, 'post' | 'limitsOf'>
  /** The gateway has taken these mails. Called before anything else is posted. */
  taken(ids: readonly string[]): void
  /** The gateway refuses this mail, though it takes others. */
  refused(id: string, code: string): void
}

/** Statuses that say nothing about the mails: the endpoint is missing, or the gateway is locked, busy or ill. */
const unrelatedStatuses = new Set([401, 403, 404, 408, 429])
/** Statuses that a person has to fix. */
const operatorStatuses = new Set([401, 403, 404])
const tooLarge = new Set(['BODY_TOO_LARGE', 'TOO_MANY_ACTIONS', 'TOO_LARGE_RENDERED'])
/** The gateway is well, but a transform or an expression failed on these mails. */
const contentCodes = new Set(['TRANSFORM_FAILED', 'TRANSFORM_REFUSED', 'ENGINE_FAILED'])
/** The cause may pass. After `maxTries` it counts as a fault of these mails. */
const unclearCodes = new Set(['INTERNAL', 'TRANSFORM_TIMEOUT'])
const maxTries = 5
const maxMessageLength = 300

/**
 * Resolves when each mail is taken or refused. Returns how many posts were taken. @throws the reason of the signal
 */
export async function postMails(
  posting: Posting,
  mails: readonly MailItem[],
  envelope: Omit<MailPost, 'messages'>,
  signal: AbortSignal,
): Promise<number> {
  if (mails.length === 0) return 0
  /** The posts in reverse, so that the next one is the last. */
  const posts = [...cutPosts(mails, envelope, posting.call.limitsOf(mailEndpoint))].reverse()
  let count = 0
  for (let post = posts.pop(); post; post = posts.pop()) {
    const answer = await postUntilAnswered(posting, post, signal)
    const [only, ...others] = post.messages
    // A post that repeats a delivered mail is ignored whole, together with the other mails in it.
    if (isTaken(answer) && !(answer.isIgnored && others.length > 0)) {
      posting.taken(post.messages.map(({ id }) => id))
      count += 1
    } else if (others.length > 0) {
      posts.push(...halvesOf(post))
    } else if (only) {
      const shorter = isTooLarge(answer) ? shortened(only) : undefined
      if (shorter) posts.push({ ...post, messages: [shorter] })
      else posting.refused(only.id, answer.code ?? `HTTP_${answer.status}`)
    }
  }
  return count
}

/** Resolves with an answer that says something about these mails. */
function postUntilAnswered(posting: Posting, post: MailPost, signal: AbortSignal): Promise<Posted> {
  let tries = 0
  const ask = async (inner: AbortSignal) => {
    const answer = await posting.call.post(mailEndpoint, post, inner)
    tries += 1
    const isLastTry = unclearCodes.has(answer.code ?? '') && tries >= maxTries
    if (isTaken(answer) || isRefused(answer) || isLastTry) return answer
    throw new PluginError(describe(answer), {
      code: 'not-taken',
      retryable: !operatorStatuses.has(answer.status),
      retryAfter: answer.retryAfter,
    })
  }
  return retry(posting, signal, ask, () => true)
}

/** 409 says that the same was posted before. */
function isTaken({ status }: Posted): boolean {
  return (status >= 200 && status < 300) || status === 409
}

function isRefused(answer: Posted): boolean {
  const { status, code = '' } = answer
  if (isTooLarge(answer) || contentCodes.has(code)) return true
  return status >= 400 && status < 500 && !unrelatedStatuses.has(status)
}

function isTooLarge({ status, code = '' }: Posted): boolean {
  return status === 413 || tooLarge.has(code)
}

function describe(answer: Posted): string {
  const suffix = answer.message ? `: ${oneLine(answer.message, maxMessageLength)}` : '.'
  return (
    `The gateway answers posts to ${mailEndpoint} with ${answer.status} ${answer.code ?? ''}`.trimEnd() +
    suffix
  )
}

/** The second half comes first, because posts are taken from the end. */
function halvesOf(post: MailPost): readonly MailPost[] {
  const { messages } = post
  const middle = Math.ceil(messages.length / 2)
  return [
    { ...post, messages: messages.slice(middle) },
    { ...post, messages: messages.slice(0, middle) },
  ]
}
