/** The hook surface's public face. */

export { presentedToken } from './authenticate.ts'
export { createDoors, type Entrance } from './doors.ts'
export { type ErrorCode, isErrorCode, renderErrorTable, statusOf } from './errors.ts'
export { parseFields } from './fields.ts'
export { receivedAgain } from './kept.ts'
export { ListenError, type ListenErrorCode, listen } from './listen.ts'
export type { HookLog } from './log.ts'
export { createApp } from './server.ts'
export { createHookSurface, type HookSurfaceOptions } from './surface.ts'
export { realTimers, type Timers } from './timers.ts'
export { trialSurface } from './trial.ts'
