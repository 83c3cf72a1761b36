/** Divides mails into posts: few, in order, each within the limits of the gateway for one request. */

import type { PostLimits } from '@reveille/kit'
import type { MailItem } from './read-mail.ts'
import { cutToLength } from './text/cut.ts'

/** The body of a post to `mailEndpoint`. */
export interface MailPost {
  readonly source: 'gmail'
  readonly account: string
  readonly historyId: string
  readonly messages: readonly MailItem[]
}

type Envelope = Omit<MailPost, 'messages'>

/**
 * At most this many, however many fit, because a post is decided in one transaction, and posted again whole if that
 * fails.
 */
const maxMails = 50

/**
 * Makes as few posts as the limits allow. A mail that is too large for a post of its own loses text. A mail whose ids
 * alone are too large is posted all the same, so that the gateway refuses it by name.
 */
export function cutPosts(
  mails: readonly MailItem[],
  envelope: Envelope,
  limits: PostLimits,
): readonly MailPost[] {
  const posts: MailPost[] = []
  const room = limits.maxBodyBytes - bytesOf({ ...envelope, messages: [] })
  const maxPosted = Math.max(1, Math.min(maxMails, limits.maxActions))
  let messages: MailItem[] = []
  let bytes = 0
  let rendered = 0

  function end() {
    if (messages.length > 0) posts.push({ ...envelope, messages })
    messages = []
    bytes = 0
    rendered = 0
  }

  for (const mail of mails) {
    const fitting = fit(mail, room)
    const size = bytesOf(fitting)
    const cost = renderedBytesOf(fitting, envelope)
    const comma = 1
    const isFull = messages.length >= maxPosted || bytes + comma + size > room
    if (isFull || rendered + cost > limits.maxRenderedBytes) end()
    messages.push(fitting)
    bytes += size + (messages.length > 1 ? comma : 0)
    rendered += cost
  }
  end()
  return posts
}

function fit(mail: MailItem, room: number): MailItem {
  let fitting = mail
  while (bytesOf(fitting) > room) {
    const shorter = shortened(fitting)
    if (shorter === undefined) break
    fitting = shorter
  }
  return fitting
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** UTF-16 units of a body that the preset `gmail` shows. */
const shownOfBody = 12_000
/** More than the preset's own words, and the names under which a prompt shows values. */
const ownTextBytes = 2_048

/**
 * Estimates what the preset renders of one mail: each field once, and the id and the account in its keys too. Another
 * mapping may render more. The gateway then refuses the post, and it is halved; no mail is shortened for this
 * estimate.
 */
function renderedBytesOf(mail: MailItem, { account }: Envelope): number {
  const shown = mail.body === '' ? mail.snippet : mail.body.slice(0, shownOfBody)
  const texts = [mail.from, mail.to, mail.date, mail.subject, mail.labels.join(', '), shown]
  const ids = 2 * Buffer.byteLength(mail.id) + 2 * Buffer.byteLength(account)
  return ownTextBytes + ids + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** In this order each text loses half of its length, until nothing is left. */
const texts = ['body', 'snippet', 'subject', 'to', 'from', 'date'] as const

/** Returns the mail with half of a text or of its labels. Returns undefined if only ids are left. */
export function shortened(mail: MailItem): MailItem | undefined {
  for (const name of texts) {
    const text = mail[name]
    if (text === '') continue
    const half = cutToLength(text, Math.floor(text.length / 2))
    return { ...mail, [name]: half, bodyTruncated: mail.bodyTruncated || name === 'body' }
  }
  const { labels } = mail
  return labels.length === 0 ? undefined : { ...mail, labels: labels.slice(0, Math.floor(labels.length / 2)) }
}
