/** The public face of the guard. */

export { createLoopGuard, type LoopIn, runHeader } from './loop.ts'
export {
  createSentMessages,
  followSentMessages,
  loadSentMessages,
  type SentMessages,
} from './sent-messages.ts'
