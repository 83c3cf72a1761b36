/** The public face of the hook surface. */

export { isWrongTry, sentenceOf } from './auth/auth-failure.ts'
export { authenticate } from './auth/authenticate.ts'
export { createEndpointAuthTables, type EndpointAuth } from './auth/endpoint-auth.ts'
export { payloadIn } from './auth/handshakes.ts'
export { presentedToken } from './auth/presented-token.ts'
export type { HookSurfaceOptions } from './dependencies.ts'
export { type ErrorCode, isErrorCode, renderErrorTable, statusOf } from './errors.ts'
export { createHookSurface, type HookSurface } from './hooks.ts'
export type { HookLog } from './log/request-log.ts'
export { shownOfDigest, statusOfOutcome } from './record/entry.ts'
export { observedRequest } from './record/observed.ts'
export { createRecorder, type Recorder } from './record/recorder.ts'
export { restoreRequest } from './record/replayable-request.ts'
export type { AskedReplay, Replayed, ReplayRequest } from './replay.ts'
export {
  isRefusedByConfiguration,
  type RequestFacts,
  type RequestOutcome,
  reasonOf,
} from './request-context.ts'
export {
  createApp,
  ListenError,
  type ListenErrorCode,
  listen,
  openTunnelListener,
  type TunnelListener,
} from './server/server.ts'
export {
  type InternalReply,
  type InternalRequest,
  type PostInternally,
  postLimitsOf,
} from './sources/internal-request.ts'
export { trySurface } from './try-surface.ts'
