/** Turns a refusal of Slack into an error that says whether a retry can help, who else is affected and how to fix it. */

import {
  type AnsweredCall,
  asRecord,
  type ChannelErrorCode,
  channelError,
  compileRedaction,
  foreignAnswer,
  hasDoneNothing,
  oneLine,
  type PluginError,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

export interface ErrorOptions extends AnsweredCall {
  readonly botToken: string
}

interface Meaning {
  readonly code: ChannelErrorCode
  readonly opening: string
  /** Slack's own error words. */
  readonly words: readonly string[]
}

/** The meaning of Slack's error words. Source: https://docs.slack.dev/reference/methods/chat.postMessage, August 2026. */
const meanings = {
  credential: {
    code: 'bad-credential',
    opening: 'Slack refuses the bot token',
    words: [
      'not_authed',
      'invalid_auth',
      'account_inactive',
      'token_revoked',
      'token_expired',
      'missing_scope',
      'not_allowed_token_type',
      'org_login_required',
      'ekm_access_denied',
      'two_factor_setup_required',
      'enterprise_is_restricted',
      'access_denied',
      'accesslimited',
      'app_access_restricted',
    ],
  },
  unknown: {
    code: 'bad-target',
    opening: 'Slack knows no such recipient, or none that takes messages',
    words: [
      'channel_not_found',
      'is_archived',
      'user_not_found',
      'user_not_visible',
      'user_disabled',
      'team_not_found',
      'invalid_user_combination',
      'is_bot',
    ],
  },
  forbidden: {
    code: 'forbidden',
    opening: 'The bot may not write there',
    words: [
      'not_in_channel',
      'no_permission',
      'restricted_action',
      'restricted_action_read_only_channel',
      'restricted_action_thread_only_channel',
      'restricted_action_non_threadable_channel',
      'restricted_action_thread_locked',
      'messages_tab_disabled',
      'cannot_reply_to_message',
    ],
  },
  refused: {
    code: 'bad-request',
    opening: 'Slack refuses the message',
    words: [
      'no_text',
      'invalid_blocks',
      'invalid_blocks_format',
      'markdown_text_conflict',
      'too_many_attachments',
    ],
  },
  tooLong: {
    code: 'too-long',
    opening: 'Slack refuses the message for its length',
    words: ['msg_too_long', 'msg_blocks_too_long'],
  },
  tooOften: {
    code: 'rate-limited',
    opening: 'Slack asks for fewer messages',
    words: ['ratelimited', 'rate_limited', 'message_limit_exceeded'],
  },
  later: {
    code: 'unavailable',
    opening: 'Slack cannot take it now',
    words: ['service_unavailable', 'team_added_to_org'],
  },
  // Slack documents that part of the work may have been done.
  unsure: {
    code: 'unavailable',
    opening: 'Slack failed and may have taken it all the same',
    words: ['internal_error', 'fatal_error', 'request_timeout'],
  },
} as const satisfies Readonly<Record<string, Meaning>>

const byWord = new Map<string, Meaning>(
  Object.values(meanings).flatMap((meaning) => meaning.words.map((word) => [word, meaning])),
)

/** With these words Slack says that the app or the workspace as a whole has sent too much. */
const forTheWholeApp = new Set(['rate_limited', 'message_limit_exceeded'])

const fixes = new Map<string, string>([
  ['not_authed', 'set `botToken` of this channel'],
  ['invalid_auth', 'fix `botToken` of this channel'],
  ['account_inactive', 'install the app in the workspace again and set its new `botToken`'],
  ['token_revoked', 'install the app in the workspace again and set its new `botToken`'],
  ['token_expired', 'set a new `botToken`, or turn token rotation off for the app'],
  ['not_allowed_token_type', '`botToken` has to be a bot token, xoxb-…'],
  ['ekm_access_denied', "an administrator has suspended the workspace's messages"],
  ['channel_not_found', 'fix the address, or invite the bot where the channel is private: `/invite @bot`'],
  ['user_not_found', 'fix the address'],
  ['is_archived', 'the channel is archived'],
  ['not_in_channel', 'invite the bot: `/invite @bot`'],
  ['no_permission', 'invite the bot: `/invite @bot`'],
  ['no_text', 'where Slack knows no `markdown_text`, set `format: mrkdwn`'],
  ['messages_tab_disabled', 'allow messages on the page "App Home" of the app'],
  ['restricted_action', 'an administrator has restricted who may post there'],
  ['restricted_action_read_only_channel', 'the channel is read-only'],
])

/** Maximum length of Slack's own words in an error, in characters. */
const maxQuoteLength = 80

/** Returns the error for an answer that does not say `ok: true`. */
export function errorFrom(answer: VendorAnswer, { isDelivery, botToken, now }: ErrorOptions): PluginError {
  const { status, headers, json } = answer
  const { error: word, needed } = asRecord(json) ?? {}
  // During an outage Slack answers so, without an error word of its API, and has posted nothing.
  if (typeof word !== 'string' && (status === 502 || status === 503)) {
    const retryAfter = readRetryAfter(headers.get('retry-after'), now)
    return channelError('unavailable', `Slack is not available (${status}).`, { retryAfter })
  }
  if (typeof word !== 'string') return foreignAnswer(answer, { vendor: "Slack's Web API", isDelivery, now })
  const quote = (text: string) => oneLine(compileRedaction([botToken])(text), maxQuoteLength)
  const meaning = meaningOf(word, status, isDelivery)
  const isScope = word === 'missing_scope' && typeof needed === 'string'
  const fix = isScope ? `give the app the scope \`${quote(needed)}\` and install it again` : fixes.get(word)
  const text = `${meaning.opening} (${quote(word)})${fix === undefined ? '' : `: ${fix}`}.`
  return channelError(meaning.code, text, {
    retryAfter: readRetryAfter(headers.get('retry-after'), now),
    ...(meaning === meanings.tooOften && { wholeService: forTheWholeApp.has(word) }),
    ...(meaning === meanings.unsure && { maybeDelivered: isDelivery && !hasDoneNothing(status) }),
  })
}

function meaningOf(word: string, status: number, isDelivery: boolean): Meaning {
  // Only direct messages fail without the scope that opens conversations; without the scope that sends, everything does.
  if (word === 'missing_scope' && !isDelivery) return meanings.forbidden
  if (status === 429) return meanings.tooOften
  return byWord.get(word) ?? (status >= 500 ? meanings.unsure : meanings.refused)
}
