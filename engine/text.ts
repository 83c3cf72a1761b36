/** The engine's own words for places, names and findings, for programs that show them and load nothing else of it. */

export { blanks, formatDiagnostic, formatPlace, shownFile } from './config/file/diagnostic-text.ts'
export { nearestName } from './config/values/nearest.ts'
export { lintCodes } from './lint/codes.ts'
