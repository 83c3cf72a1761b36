/** The embedded store's public face. */

export { type BackupOptions, backupSqliteStore } from './backup.ts'
export { missingStore } from './folder.ts'
export { glanceAtStore, highestGenerationIn, type StoreGlance } from './glance.ts'
export { openSqliteStore } from './store.ts'
