/** Turns mails as Gmail gives them into posts to the gateway. Nothing here waits, and nothing throws. */

export { cutPosts, type MailPost, shortened } from './posts.ts'
export { isWanted, labelsOf, type MailItem, readMail } from './read-mail.ts'
