/** Turns a refusal of Mattermost into an error, by the server's own error ids. */

import {
  type AnsweredCall,
  asRecord,
  type ChannelErrorCode,
  channelError,
  foreignAnswer,
  hasDoneNothing,
  type PluginError,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

/** The refusals that only an operator can fix. They are reported in our words, because the server's may quote the message. */
const meanings: Readonly<Record<string, readonly [code: ChannelErrorCode, sentence: string]>> = {
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

/** The error ids with which the post was not stored, so that a retry cannot double it. */
const unsaved: ReadonlySet<string> = new Set(['app.post.save.app_error'])

const vendor = 'the API of a Mattermost server'

/** Returns the error for an answer that is not a success. */
export function errorFrom(answer: VendorAnswer, { now, isDelivery }: AnsweredCall): PluginError {
  const { status, headers } = answer
  const id = errorIdOf(answer.json)
  const prefix = `Mattermost answered with ${status}${id === undefined ? '' : ` (${id})`}`

  if (status === 401) {
    const reason = 'the token is wrong, revoked or of a deactivated bot. Create a new one'
    return channelError('bad-credential', `${prefix}: ${reason}.`)
  }
  if (status === 429) {
    const wait = headers.get('retry-after') ?? headers.get('x-ratelimit-reset')
    // The limit applies to an IP address or a user, and the gateway is one of either.
    const facts = { retryAfter: readRetryAfter(wait, now), wholeService: true }
    return channelError('rate-limited', `${prefix}: too many requests.`, facts)
  }
  const [code, sentence] = meanings[id ?? ''] ?? []
  if (code !== undefined) return channelError(code, `${prefix}: ${sentence}`)
  if (status === 413) return channelError('too-long', `${prefix}: ${tooLong()}`)
  // The answer is not the API's: it is a page of a proxy, or the address lacks the server's path.
  if (id === undefined || id === 'api.context.404.app_error') {
    return foreignAnswer(answer, { vendor, isDelivery, now })
  }
  if (status >= 500) {
    const maybeDelivered = isDelivery && !hasDoneNothing(status) && !unsaved.has(id)
    const retryAfter = readRetryAfter(headers.get('retry-after'), now)
    return channelError('unavailable', `${prefix}.`, { maybeDelivered, retryAfter })
  }
  if (status === 403) return channelError('forbidden', `${prefix}: the bot may not do this.`)
  if (status === 404) return channelError('bad-target', `${prefix}: there is no such place.`)
  return channelError('bad-request', `${prefix}.`)
}

/** Returns the error for a successful answer that is not Mattermost's. */
export function notMattermost(answer: VendorAnswer, { isDelivery = false } = {}): PluginError {
  // Mattermost answers 201 when it has stored a post; anything else that answers 200 has stored nothing.
  return foreignAnswer(answer, { vendor, isDelivery: isDelivery && answer.status === 201 })
}

/** Returns an error id if it has only the characters of Mattermost's ids, so that a quote holds nothing else. */
function errorIdOf(json: unknown): string | undefined {
  const id = asRecord(json)?.['id']
  return typeof id === 'string' && /^[a-z0-9_]+(\.[a-z0-9_]+){1,9}$/i.test(id) ? id : undefined
}
