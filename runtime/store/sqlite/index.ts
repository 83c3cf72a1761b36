/** The embedded store's public face. */

export { type BackupOptions, backupSqliteStore } from './backup.ts'
export { highestGenerationIn, storeProblem } from './closed-store.ts'
export { lockDataFolder, missingStore } from './folder.ts'
export { openSqliteStore } from './store.ts'
