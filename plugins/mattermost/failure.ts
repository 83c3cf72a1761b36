/** Owns what goes wrong between Mattermost and us: which error an answer is, told by the server's own error ids. */

import {
  type ChannelErrorCode,
  channelError,
  foreignAnswer,
  type PluginError,
  readRetryAfter,
  recordOf,
  type VendorAnswer,
} from '@reveille/kit'

/** Nobody but the server's operator can mend these; each is told in our words, because the server's may quote. */
const known: Readonly<Record<string, readonly [code: ChannelErrorCode, sentence: string]>> = {
  'model.post.is_valid.message_length.app_error': ['too-long', tooLong()],
  'model.post.is_valid.msg.app_error': ['too-long', tooLong()],
  'api.post.create_post.root_id.app_error': ['bad-target', 'The thread has no such first post.'],
  'api.post.create_post.channel_root_id.app_error': ['bad-target', 'The thread is in another channel.'],
  'api.post.create_post.can_not_post_to_deleted.error': ['bad-target', 'The channel is archived.'],
  'app.user.missing_account.const': ['bad-target', 'There is no such user.'],
  'api.channel.create_direct_channel.invalid_user.app_error': ['bad-target', 'There is no such user.'],
  'api.context.permissions.app_error': [
    'forbidden',
    'The bot may not post there, or the id is no channel’s: add the bot to the team and the channel.',
  ],
}

function tooLong(): string {
  return 'The message is longer than this server takes; its administrator can raise the length of posts.'
}

/** With these the post was not stored: a later try cannot double it. */
const unsaved: ReadonlySet<string> = new Set(['app.post.save.app_error'])

export interface FailureOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** Whether the call was the one that sends the message. */
  readonly delivers: boolean
}

const vendor = 'the API of a Mattermost server'

/** An answer that is no success. */
export function failureOf(answer: VendorAnswer, { now, delivers }: FailureOptions): PluginError {
  const { status, headers } = answer
  const id = errorIdOf(answer.json)
  const said = `Mattermost answered with ${status}${id === undefined ? '' : ` (${id})`}`

  if (status === 401) {
    const reason = 'the token is wrong, revoked or of a deactivated bot. Create a new one'
    return channelError('bad-credential', `${said}: ${reason}.`)
  }
  if (status === 429) {
    const wait = headers.get('retry-after') ?? headers.get('x-ratelimit-reset')
    // The limit is per address or per user, and we are one of either.
    const facts = { retryAfter: readRetryAfter(wait, now), wholeChannel: true }
    return channelError('rate-limited', `${said}: too many requests.`, facts)
  }
  const [code, sentence] = known[id ?? ''] ?? []
  if (code !== undefined) return channelError(code, `${said}: ${sentence}`)
  if (status === 413) return channelError('too-long', `${said}: ${tooLong()}`)
  // Whatever answered, it is not the API: a page of a proxy, or an address that lacks the server's path.
  if (id === undefined || id === 'api.context.404.app_error') {
    return foreignAnswer(answer, { vendor, delivers, now })
  }
  if (status >= 500) {
    const maybeDelivered = delivers && status !== 503 && !unsaved.has(id)
    return channelError('unavailable', `${said}.`, { maybeDelivered })
  }
  if (status === 403) return channelError('forbidden', `${said}: the bot may not do this.`)
  if (status === 404) return channelError('bad-target', `${said}: there is no such place.`)
  return channelError('bad-request', `${said}.`)
}

/** An answer of success that is none of Mattermost's. */
export function notMattermost(answer: VendorAnswer, delivers: boolean): PluginError {
  // Mattermost says 201 when it has stored a post; whatever else says 200 has stored nothing.
  return foreignAnswer(answer, { vendor, delivers: delivers && answer.status === 201 })
}

/** An id that has no other characters than Mattermost's: what is quoted can hold nothing else. */
function errorIdOf(json: unknown): string | undefined {
  const id = recordOf(json)?.['id']
  return typeof id === 'string' && /^[a-z0-9_]+(\.[a-z0-9_]+){1,9}$/i.test(id) ? id : undefined
}
