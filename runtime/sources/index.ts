/** Runs sources. Some parts are used by commands too. */

export { catchUpSource, createCatchUps } from './catch-up/catch-up.ts'
export {
  createGitHubApi,
  type GitHubApi,
  type GitHubDelivery,
  type GitHubPlace,
} from './catch-up/github.ts'
export type { ProviderApiOptions } from './catch-up/provider-api.ts'
export { createStripeApi } from './catch-up/stripe.ts'
export { createSourceClock } from './clock.ts'
export { lockSource } from './lock.ts'
export {
  createSharedStorage,
  createSourceStorage,
  createStoredValues,
  sourcesFolder,
} from './source-storage.ts'
export { createSources, type Sources, type SourcesOptions } from './sources.ts'
export type { SourceState } from './state.ts'
