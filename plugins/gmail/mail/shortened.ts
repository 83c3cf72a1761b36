/** Owns taking text away from a mail that is too large, the least missed first. */

import type { MailItem } from './item.ts'
import { cutToLength } from './text/cut.ts'

/** In this order: each loses half of what it has, until nothing is left. */
const texts = ['body', 'snippet', 'subject', 'to', 'from', 'date'] as const

/** With half of a text, or of its labels; undefined where nothing but ids is left to take away. */
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
