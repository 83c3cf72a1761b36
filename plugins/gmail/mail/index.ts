/** What becomes of a mail before it is posted. */

import type { PostLimits } from '@reveille/kit'
import type { RawMessage } from '../google/port.ts'
import type { MailItem, MailPost } from './item.ts'

export type { MailItem, MailPost } from './item.ts'

export interface ReadOptions {
  readonly includeBody: boolean
  /** Of the body, in bytes of UTF-8. */
  readonly maxBytes: number
}

/** Never throws, whatever a stranger wrote. */
export function readMail(_raw: RawMessage, _options: ReadOptions): MailItem {
  throw new Error('not there yet')
}

/** Whether it has the label and none of those that are left out. */
export function isWanted(_raw: RawMessage, _labelId: string, _exclude: readonly string[]): boolean {
  throw new Error('not there yet')
}

/** As few posts as the limits allow, in order; a mail that alone is too large has less body, and fewer words elsewhere. */
export function cutPosts(
  _mails: readonly MailItem[],
  _envelope: Omit<MailPost, 'messages'>,
  _limits: PostLimits,
): readonly MailPost[] {
  throw new Error('not there yet')
}

/** With half of its longest texts; undefined where nothing is left to take away. */
export function shortened(_mail: MailItem): MailItem | undefined {
  throw new Error('not there yet')
}
