/** What becomes of a mail before it is posted. Nothing here waits, and nothing throws. */

export type { MailItem, MailPost } from './item.ts'
export { cutPosts } from './posts.ts'
export { isWanted, labelsOf, type ReadOptions, readMail } from './read-mail.ts'
export { shortened } from './shortened.ts'
