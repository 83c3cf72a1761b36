/** The embedded store's public face. */

export { type BackupOptions, backupSqliteStore } from './database/backup.ts'
export { lockDataFolder, missingStore } from './database/folder.ts'
export { highestGenerationIn, readStoreSummary, type StoreSummary } from './reader/store-summary.ts'
export { openSqliteStore } from './store.ts'
