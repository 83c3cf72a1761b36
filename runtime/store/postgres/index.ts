/** The public face of the store on PostgreSQL. */

export { shownLocation } from './connection.ts'
export { openPostgresStore } from './store.ts'
