/** The guard's public face. */

export { createLoopGuard, type LoopIn, runHeader } from './loop.ts'
export { createOwnWords, type OwnWords } from './own-words.ts'
export { rememberOwnWords } from './remember.ts'
