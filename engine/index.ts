/** The engine's public face: what a host may import. */

export type { Catalog, MappingSummary, Snapshot } from './compile/snapshot.ts'
export type {
  Configuration,
  EndpointPolicy,
  Loaded,
  MappingEntry,
  MappingSource,
} from './config/configuration.ts'
export type { Diagnostic, Place } from './config/diagnostic.ts'
export type { LogLevel, ModelRules, Settings, ThinkingLevel } from './config/settings.ts'
export { thinkingLevels } from './config/settings.ts'
export type { CurrentLive, Live } from './reload/live.ts'
export type {
  Action,
  AgentAction,
  Decision,
  FieldError,
  HookRequest,
  Refusal,
  WakeAction,
  WakeMode,
} from './resolve/decision.ts'
