/** The embedded store's public face. */

export { type BackupOptions, backupSqliteStore } from './backup.ts'
export { openSqliteStore } from './store.ts'
