/** The engine's public face: what a host may import. */

export { applyBoundary } from './boundary/apply-boundary.ts'
export { closeFence, type FenceOptions, fence } from './boundary/fence.ts'
export { randomId } from './boundary/random-id.ts'
export type { Segment } from './boundary/segment.ts'
export type { Observation } from './cases/observation.ts'
export { type Mismatch, receivedOf, runTests, type TestResult } from './cases/run-tests.ts'
export { type PastRequest, runShadow, type Shadow, type ShadowDifference } from './cases/shadow.ts'
export { describeTests } from './cases/test-failures.ts'
export {
  explainRequest,
  type ReceivedRequest,
  type TryOptions,
  type TryResult,
  type TrySurface,
  tryRequest,
} from './cases/try-request.ts'
export type { Unmatched } from './cases/unmatched.ts'
export { type Compiler, createCompiler } from './compile/compile-snapshot.ts'
export type { Catalog, MappingSummary, Snapshot } from './compile/snapshot.ts'
export type {
  Auth,
  Configuration,
  EndpointPolicy,
  Loaded,
  MappingEntry,
  MappingSource,
  TestEntry,
} from './config/configuration.ts'
export type { Diagnostic, Place } from './config/file/diagnostic.ts'
export { inFileOrder } from './config/file/diagnostics.ts'
export { withoutJson5Comments } from './config/file/json5-comments.ts'
export { type Files, realFiles } from './config/file/load-context.ts'
export { createThreadParser } from './config/file/parser.ts'
export { createLoader, type Loader, type LoadOptions, loadConfiguration } from './config/load.ts'
export { loadPasted } from './config/pasted.ts'
export { keysReadBy, shortTitleOf } from './config/rules/material.ts'
export type { ModelRules } from './config/rules/models.ts'
export { costOf, type Price, priceOf, pricesOf } from './config/rules/prices.ts'
export { type Right, rights } from './config/schema/configuration-schema.ts'
export { type EditorSchema, editorSchemas } from './config/schema/editor-schema.ts'
export type { CatchUpPolicy } from './config/schema/policy-schema.ts'
export { holdsUnset } from './config/schema/resolution.ts'
export type { Budget, LogLevel, QuietHours, Settings } from './config/settings.ts'
export { channelName } from './config/values/channel-name.ts'
export { type ThinkingLevel, thinkingLevels } from './config/values/fields.ts'
export { freezeDeep } from './config/values/freeze-deep.ts'
export { isRecord } from './config/values/is-record.ts'
export { isLoopback } from './config/values/loopback.ts'
export { keyOfSource } from './config/values/mailbox.ts'
export { writePath } from './config/values/path.ts'
export { coversPath } from './config/values/path-overlap.ts'
export type { Rate } from './config/values/quantities.ts'
export { inLargestUnit, parseDuration } from './config/values/quantities.ts'
export { isSecretKey } from './config/values/secret.ts'
export { containSnapshot } from './evaluator/contained-snapshot.ts'
export { createEvaluators, type Evaluators } from './evaluator/evaluators.ts'
export { compileFieldPresence, type FieldPresence } from './lint/fields/field-presence.ts'
export { lintConfiguration } from './lint/lint-configuration.ts'
export type { Sample as LintSample } from './lint/sample.ts'
export { inUtf8 } from './payload/charset.ts'
export {
  type Fields,
  fieldsOf,
  hasTooManyFields,
  isFormType,
  maxFields,
  parseFields,
} from './payload/form.ts'
export { providerRow } from './providers/index.ts'
export type { ProviderRow } from './providers/scheme.ts'
export {
  buildCandidate,
  CandidateError,
  type CandidateParts,
  type CandidateSource,
  type Prepared,
} from './reload/candidate.ts'
export type { Changes, Difference } from './reload/changes.ts'
export type { GenerationArchive, GenerationContent, GenerationRecord, Rollback } from './reload/generation.ts'
export { isRefusedAgain, keptGenerations } from './reload/generation.ts'
export type { CurrentLive, Live } from './reload/live.ts'
export type { ReloadEvent, ReloadListener, ReloadResult } from './reload/reload-event.ts'
export {
  createReloader,
  type DryRunSource as DryRunOf,
  type LiveSource,
  type Reloader,
  type ReloaderOptions,
} from './reload/reloader.ts'
export { textsMayBeUnfinished } from './reload/unfinished.ts'
export {
  createWatcher,
  type Watch,
  type Watcher,
  type WatchOptions,
  type WatchSettings,
} from './reload/watcher.ts'
export type { Randomness } from './resolve/admit/admit.ts'
export { type FieldPath, type FieldPaths, fieldPathsOf } from './resolve/explain/field-paths.ts'
export { redactRequest } from './resolve/explain/redact.ts'
export type {
  Action,
  AgentAction,
  Decision,
  FieldError,
  HookRequest,
  Refusal,
  Reply,
  WakeAction,
  WakeMode,
} from './resolve/model/decision.ts'
export {
  authOf,
  type EffectivePolicy,
  type PolicyValue,
  placeOfPolicyValue,
  type Rates,
} from './resolve/model/effective-policy.ts'
export { type RefusalCode, RefusalError, refusalCodes } from './resolve/model/refusal.ts'
export type {
  ActionTrace,
  CandidateTrace,
  ClauseTrace,
  Explanation,
  FieldTrace,
  SourceTrace,
} from './resolve/model/trace.ts'
export { decodePayload, isLongToRead } from './resolve/payload.ts'
export { createSerialThread, type SerialThread, ThreadEndedError } from './threads/serial-thread.ts'
export { programFile, type ThreadData, threadEnvironment } from './threads/thread.ts'
export { backgroundTimers, realTimers, type Timers } from './timers.ts'
export { createBundler } from './transform/bundle/bundler.ts'
export { createTransformHost } from './transform/host/host.ts'
export { createMask, type Mask, redacted } from './transform/host/mask.ts'
export {
  type Bundle,
  type Bundler,
  type Stop,
  TransformError,
  type TransformEvent,
  type TransformHost,
  type TransformListener,
} from './transform/port.ts'
export { createSecretMatcher, type SecretMatcher } from './verify/compare.ts'
export { comparedOf, type Diagnosis, diagnose } from './verify/diagnosis/diagnose.ts'
export type { Handshake, HandshakeRequest, Handshakes } from './verify/handshakes/handshake.ts'
export type { Provider } from './verify/provider.ts'
export {
  type SignedRequest,
  signatureFailures,
  UnavailableError,
  type Unverified,
  type VerifyDependencies,
  type VerifyResult,
} from './verify/verifier.ts'
