/** The embedded store's public face. */

export { type BackupOptions, backupSqliteStore } from './backup.ts'
export { lockDataFolder, missingStore } from './folder.ts'
export { openSqliteStore } from './store.ts'
export { highestGenerationIn, readStoreSummary, type StoreSummary } from './summary.ts'
