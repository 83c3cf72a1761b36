/** The hook surface's public face. */

export { createDoors, type Entrance } from './auth/doors.ts'
export { presentedToken } from './auth/presented-token.ts'
export { parseFields } from './body/fields.ts'
export { type ErrorCode, isErrorCode, renderErrorTable, statusOf } from './errors.ts'
export { receivedAgain } from './kept.ts'
export type { HookLog } from './log.ts'
export { type OwnPost, type OwnRequest, postLimitsOf } from './own-post.ts'
export type { Receiver } from './receiving.ts'
export { ListenError, type ListenErrorCode, listen } from './server/listen.ts'
export { createApp } from './server/server.ts'
export { createHookSurface, type HookSurfaceOptions } from './surface.ts'
export { trialSurface } from './trial.ts'
