/** Runs sources. Some parts are used by commands too. */

export { catchUpSource, createCatchUps } from './catch-up.ts'
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
