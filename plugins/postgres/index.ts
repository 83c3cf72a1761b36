/** The driver for PostgreSQL. */

export { openPostgresDriver as openDriver } from './driver.ts'
